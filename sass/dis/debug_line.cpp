#include "sass/dis/debug_line.h"

#include <algorithm>
#include <optional>
#include <string>

#include "sass/asm/cubin/line_table.h"

namespace nervanagpu::sass {
namespace {

constexpr std::uint32_t kRela = 4, kRel = 9;  // section types
// DW_LNS_*: standard opcodes that matter here
constexpr std::uint8_t kCopy = 1, kAdvancePc = 2, kAdvanceLine = 3, kSetFile = 4, kAddPc = 8, kFixedPc = 9;
// DW_LNE_*: extended ones
constexpr std::uint8_t kEndSequence = 1, kSetAddress = 2;

// Reads until the end; then every number is 0 and ended() holds.
class Reader {
 public:
  explicit Reader(ByteView bytes) : bytes_(bytes) {}

  [[nodiscard]] bool ended() const { return at_ >= bytes_.size(); }
  [[nodiscard]] std::size_t at() const { return at_; }
  void skip(std::uint64_t count) {
    at_ = count < bytes_.size() - std::min(at_, bytes_.size()) ? at_ + count : bytes_.size();
  }

  template <class T>
  T number() {
    if (bytes_.size() - std::min(at_, bytes_.size()) < sizeof(T)) {
      at_ = bytes_.size();
      return 0;
    }
    at_ += sizeof(T);
    return load_le<T>(bytes_, at_ - sizeof(T));
  }
  std::uint64_t uleb() {
    std::uint64_t out = 0;
    for (unsigned shift = 0; !ended(); shift += 7) {
      const auto byte = number<std::uint8_t>();
      if (shift < 64) out |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80) == 0) break;
    }
    return out;
  }
  std::int64_t sleb() {
    std::uint64_t out = 0;
    unsigned shift = 0;
    std::uint8_t byte = 0;
    do {
      byte = number<std::uint8_t>();
      if (shift < 64) out |= std::uint64_t{byte & 0x7fU} << shift;
      shift += 7;
    } while ((byte & 0x80) != 0 && !ended());
    if (shift < 64 && (byte & 0x40) != 0) out |= ~std::uint64_t{0} << shift;
    return static_cast<std::int64_t>(out);
  }
  std::string_view text() {
    const std::string_view rest = as_text(bytes_.subspan(std::min(at_, bytes_.size())));
    const std::string_view out = rest.substr(0, rest.find('\0'));
    skip(out.size() + 1);
    return out;
  }

 private:
  ByteView bytes_;
  std::size_t at_ = 0;
};

struct Row {
  std::uint64_t address = 0;
  std::uint64_t file = 0;
  std::uint32_t line = 0;
};

class LineReader {
 public:
  LineReader(const ElfView& elf, Arch arch, const std::map<std::uint32_t, std::size_t>& kernel_of_symbol,
             std::vector<KernelImage>& kernels)
      : elf_(elf), arch_(arch), kernel_of_symbol_(kernel_of_symbol), kernels_(kernels) {}

  void read() {
    const auto& all = elf_.sections();
    const auto lines = std::ranges::find_if(all, [](const auto& s) { return s.name == ".debug_line"; });
    if (lines == all.end()) return;
    read_relocations(static_cast<std::uint32_t>(lines - all.begin()));
    const ByteView data = lines->data;
    for (std::size_t at = 0; data.size() - at >= 4;) {
      const auto length = load_le<std::uint32_t>(data, at);
      if (length > data.size() - at - 4) return;
      read_unit(data.subspan(at + 4, length), at + 4);
      at += 4 + std::size_t{length};
    }
  }

 private:
  // Which symbol's address stands at an offset of the section.
  void read_relocations(std::uint32_t section) {
    for (const auto& s : elf_.sections()) {
      if ((s.type != kRela && s.type != kRel) || s.info != section) continue;
      const std::size_t record = s.type == kRela ? 24 : 16;
      for (std::size_t at = 0; s.data.size() - at >= record; at += record) {
        const auto symbol = static_cast<std::uint32_t>(load_le<std::uint64_t>(s.data, at + 8) >> 32);
        symbol_at_[load_le<std::uint64_t>(s.data, at)] = symbol;
      }
    }
  }

  void read_unit(ByteView unit, std::size_t offset) {
    Reader in(unit);
    const auto version = in.number<std::uint16_t>();
    if (version < 2 || version > 4) return;
    const auto header = in.number<std::uint32_t>();
    const std::size_t program = in.at() + header;
    if (program > unit.size()) return;
    const auto step = in.number<std::uint8_t>();
    if (version >= 4) in.skip(1);
    in.skip(1);
    const auto line_base = static_cast<std::int8_t>(in.number<std::uint8_t>());
    const auto line_range = in.number<std::uint8_t>();
    const auto opcode_base = in.number<std::uint8_t>();
    if (line_range == 0 || opcode_base == 0) return;
    std::vector<std::uint8_t> operands(opcode_base, 0);
    for (unsigned i = 1; i < opcode_base; ++i) operands[i] = in.number<std::uint8_t>();
    while (!in.text().empty()) {
    }
    files_.assign(1, {});
    for (std::string_view name = in.text(); !name.empty(); name = in.text()) {
      files_.push_back(name.substr(name.size() - std::min(name.size(), kMaxFileName)));
      for (int i = 0; i < 3; ++i) in.uleb();
    }
    in = Reader(unit);
    in.skip(program);

    Row row;
    const auto start = [&] {
      row = {0, 1, 1};
      rows_.clear();
      kernel_.reset();
    };
    start();
    const auto move = [&](std::int64_t lines) {
      row.line = static_cast<std::uint32_t>(static_cast<std::int64_t>(row.line) + lines);
    };
    while (!in.ended()) {
      const auto op = in.number<std::uint8_t>();
      if (op >= opcode_base) {
        const unsigned special = op - opcode_base;
        row.address += std::uint64_t{special / line_range} * step;
        move(line_base + static_cast<int>(special % line_range));
        rows_.push_back(row);
        continue;
      }
      switch (op) {
        case 0: {
          const std::uint64_t length = in.uleb();
          const std::size_t begin = in.at();
          const auto what = length == 0 ? std::uint8_t{0} : in.number<std::uint8_t>();
          if (what == kSetAddress && length == 9) {
            set_address(offset + in.at());
            row.address = in.number<std::uint64_t>();
          } else if (what == kEndSequence) {
            fill(row.address);
            start();
          }
          in.skip(length - std::min<std::uint64_t>(length, in.at() - begin));
          break;
        }
        case kCopy: rows_.push_back(row); break;
        case kAdvancePc: row.address += in.uleb() * step; break;
        case kAdvanceLine: move(in.sleb()); break;
        case kSetFile: row.file = in.uleb(); break;
        case kAddPc: row.address += std::uint64_t{(255U - opcode_base) / line_range} * step; break;
        case kFixedPc: row.address += in.number<std::uint16_t>(); break;
        default:
          for (unsigned i = 0; i < operands[op]; ++i) in.uleb();
      }
    }
  }

  void set_address(std::size_t at) {
    kernel_.reset();
    const auto symbol = symbol_at_.find(at);
    if (symbol == symbol_at_.end()) return;
    const auto kernel = kernel_of_symbol_.find(symbol->second);
    if (kernel != kernel_of_symbol_.end()) kernel_ = kernel->second;
  }

  // A sequence is over: its rows, in the order of their addresses, tell where each instruction comes from.
  void fill(std::uint64_t end) {
    if (!kernel_ || rows_.empty()) return;
    KernelImage& k = kernels_[*kernel_];
    if (!k.lines.empty() || !std::ranges::is_sorted(rows_, {}, &Row::address)) return;
    std::vector<Span> lines(k.code.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::uint64_t address = address_of(info(arch_).encoding, i);
      while (next < rows_.size() && rows_[next].address <= address) ++next;
      if (next == 0 || address >= end) continue;
      const Row& row = rows_[next - 1];
      if (row.file >= files_.size()) continue;
      lines[i] = {std::string(files_[row.file]), row.line, 0};
    }
    k.lines = LineTable(lines);
  }

  const ElfView& elf_;
  Arch arch_;
  const std::map<std::uint32_t, std::size_t>& kernel_of_symbol_;
  std::vector<KernelImage>& kernels_;
  std::map<std::uint64_t, std::uint32_t> symbol_at_;
  std::vector<std::string_view> files_;  // from 1
  std::vector<Row> rows_;                // of the sequence
  std::optional<std::size_t> kernel_;    // whose code it speaks of
};

}  // namespace

void read_debug_lines(const ElfView& elf, Arch arch, const std::map<std::uint32_t, std::size_t>& kernel_of_symbol,
                      std::vector<KernelImage>& kernels) {
  LineReader(elf, arch, kernel_of_symbol, kernels).read();
}

}  // namespace nervanagpu::sass

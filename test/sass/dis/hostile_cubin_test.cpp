// The cubin reader on bytes that nobody meant: it may refuse them or make something of them, but it stays inside the
// file, ends, and stores no more than a small multiple of the file. (Run under the asan preset to see "inside".)
#include <gtest/gtest.h>

#include <memory>

#include "sass/bytes.h"
#include "sass/cubin_abi.h"
#include "test/sass/images.h"

namespace nervanagpu::sass {
namespace {

std::size_t footprint(const CubinImage& image) {
  std::size_t bytes = 0;
  for (const KernelImage& k : image.kernels) {
    bytes += sizeof k + k.name.size() + k.code.size() * sizeof(Word) + k.params.size() * sizeof(Param) +
             k.constant0.size() + k.lines.runs().size() * sizeof(LineTable::Run) +
             k.relocations.size() * sizeof(CodeRelocation);
    for (const std::string& file : k.lines.files()) bytes += sizeof file + file.size();
  }
  const ModuleData& d = image.data;
  bytes += d.initial.size() + d.constant3.size() + d.constant4.size();
  bytes += (d.in_variables.size() + d.in_constant3.size() + d.in_constant4.size()) * sizeof(Relocation);
  for (const Variable& v : d.variables) bytes += sizeof(Variable) + v.name.size();
  for (const std::string& name : d.externals) bytes += sizeof(std::string) + name.size();
  return bytes;
}

// Whoever loads it writes only inside.
void expect_inside(const ModuleData& d) {
  EXPECT_LE(d.initial.size(), d.bytes);
  EXPECT_LE(d.bytes, kMaxVariableBytes + d.initial.size() + 1024);
  const auto check = [&](const std::vector<Relocation>& list, std::size_t room) {
    for (const Relocation& r : list) {
      EXPECT_TRUE(r.bytes == 4 || r.bytes == 8);
      EXPECT_LE(std::size_t{r.offset} + r.bytes, room);
      EXPECT_TRUE(r.to != Relocation::To::kFunction || r.value < d.externals.size());
    }
  };
  check(d.in_variables, d.initial.size());
  check(d.in_constant3, d.constant3.size());
  check(d.in_constant4, d.constant4.size());
  for (const Variable& v : d.variables) {
    const std::uint64_t room = v.place == Variable::Place::kConstant ? d.constant3.size() : d.bytes;
    EXPECT_LE(v.offset, room);
    EXPECT_LE(v.bytes, room - std::min(v.offset, room));
  }
}

// Reads from an allocation of exactly the file's size, so that a sanitizer sees one byte too far.
bool read_exact(ByteView bytes) {
  const auto copy = std::make_unique<std::uint8_t[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), copy.get());
  const auto image = read_cubin(copy.get(), bytes.size());
  if (image.ok()) {
    EXPECT_LE(footprint(*image), 20 * bytes.size() + 4096);
    for (const KernelImage& k : image->kernels) {
      EXPECT_LE(k.registers, 255u);
      EXPECT_LE(k.barriers, 16u);
      EXPECT_LE(k.max_threads, 1024u);
      EXPECT_TRUE(k.lines.empty() || k.lines.size() == k.code.size());
      for (const CodeRelocation& r : k.relocations) EXPECT_LT(r.index, k.code.size());
    }
    expect_inside(image->data);
  } else {
    EXPECT_FALSE(image.error().message.empty());
  }
  return image.ok();
}

// A small cubin of ours with everything in it.
Bytes small_cubin(Arch arch) {
  KernelImage k;
  k.name = "k";
  k.code.resize(6);
  k.registers = 10;
  k.shared = 64;
  k.barriers = 2;
  k.max_threads = 64;
  k.reqntid[0] = 8;
  k.reqntid[1] = k.reqntid[2] = 2;
  k.param_bytes = 12;
  k.params = {{"p", ParamType::ptr, 0}, {"n", ParamType::u32, 8}};
  k.lines = LineTable(std::vector<Span>(6, Span{"k.sass", 1, 1}));
  k.manifest.name = "k";
  k.manifest.arch = arch;
  k.manifest.params = k.params;
  auto bytes = write_cubin({arch, {k}});
  EXPECT_TRUE(bytes.ok()) << bytes.error().text();
  return *bytes;
}

std::vector<Bytes> victims() {
  return {small_cubin(Arch::sm_52), small_cubin(Arch::sm_90a), golden_cubin("scale_fill.sm_90a.abi8"),
          golden_cubin("../cudac/variables"), golden_cubin("../cudac/linked")};
}

TEST(HostileCubin, EveryTruncationIsRefused) {
  for (const Bytes& whole : victims()) {
    ASSERT_TRUE(read_exact(whole));
    // The program headers are last and no reader needs them: a file may end where they begin.
    const auto sections_end =
        load_le<std::uint64_t>(whole, 40) + std::size_t{load_le<std::uint16_t>(whole, 60)} * kSectionHeaderBytes;
    for (std::size_t n = 0; n < whole.size(); ++n) {
      EXPECT_EQ(read_exact(ByteView(whole).first(n)), n >= sections_end) << n;
    }
  }
}

TEST(HostileCubin, EveryByteTurned) {
  for (const Bytes& whole : victims()) {
    Bytes bytes = whole;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      for (const std::uint8_t mask : {0x01, 0x80, 0xff}) {
        bytes[i] = whole[i] ^ mask;
        read_exact(bytes);
      }
      bytes[i] = 0;
      read_exact(bytes);
      bytes[i] = whole[i];
    }
  }
}

constexpr std::uint64_t kNasty[] = {0,
                                    1,
                                    2,
                                    0x7f,
                                    0x80,
                                    0xff00,
                                    0xffff,
                                    0x7fffffff,
                                    0x80000000,
                                    0xffffffff,
                                    0x100000000,
                                    0x7fffffffffffffff,
                                    0x8000000000000000,
                                    0xfffffffffffffff0,
                                    0xffffffffffffffff};

void poke(Bytes& bytes, std::size_t at, std::size_t width, std::uint64_t value) {
  for (std::size_t i = 0; i < width && at + i < bytes.size(); ++i)
    bytes[at + i] = static_cast<std::uint8_t>(value >> 8 * i);
}

struct FieldAt {
  std::size_t at, width;
};

std::vector<FieldAt> header_fields(const Bytes& bytes) {
  std::vector<FieldAt> out = {{16, 2}, {18, 2}, {20, 4}, {32, 8}, {40, 8}, {48, 4},
                              {52, 2}, {54, 2}, {56, 2}, {58, 2}, {60, 2}, {62, 2}};
  const auto at = static_cast<std::size_t>(load_le<std::uint64_t>(bytes, 40));
  for (std::size_t i = 0; i < load_le<std::uint16_t>(bytes, 60); ++i) {
    const std::size_t s = at + i * kSectionHeaderBytes;
    for (const FieldAt f : {FieldAt{0, 4}, {4, 4}, {8, 8}, {24, 8}, {32, 8}, {40, 4}, {44, 4}, {48, 8}, {56, 8}}) {
      out.push_back({s + f.at, f.width});
    }
  }
  return out;
}

TEST(HostileCubin, EveryHeaderFieldSetToNastyValues) {
  for (const Bytes& whole : victims()) {
    for (const FieldAt f : header_fields(whole)) {
      for (const std::uint64_t v : kNasty) {
        Bytes bytes = whole;
        poke(bytes, f.at, f.width, v);
        read_exact(bytes);
        poke(bytes, f.at, f.width, whole.size() - v);
        read_exact(bytes);
      }
    }
  }
}

TEST(HostileCubin, RandomMutationsOfHeadersAndRecords) {
  const std::vector<Bytes> all = victims();
  std::vector<std::vector<FieldAt>> fields;
  fields.reserve(all.size());
  for (const Bytes& b : all) fields.push_back(header_fields(b));
  std::mt19937_64 rng(11);
  std::size_t read = 0;
  constexpr int kRounds = 100000;
  for (int round = 0; round < kRounds; ++round) {
    const std::size_t v = rng() % all.size();
    Bytes bytes = all[v];
    for (std::uint64_t n = 1 + rng() % 3; n != 0; --n) {
      const std::uint64_t value = rng() % 2 != 0 ? kNasty[rng() % std::size(kNasty)] : rng() >> rng() % 64;
      if (rng() % 2 != 0) {
        const FieldAt f = fields[v][rng() % fields[v].size()];
        poke(bytes, f.at, f.width, value);
      } else {
        poke(bytes, rng() % bytes.size(), std::size_t{1} << rng() % 4, value);
      }
    }
    read += read_exact(bytes) ? 1 : 0;
  }
  // Neither all refused (nothing would be tested after the headers) nor all accepted.
  EXPECT_GT(read, std::size_t{kRounds} / 100);
  EXPECT_LT(read, std::size_t{kRounds} * 9 / 10);
}

// --- what was refused, by section and field ---------------------------------------------------------------------------

struct Victim {
  Bytes bytes = small_cubin(Arch::sm_90a);

  // Offset of the header of section `name`.
  std::size_t header(std::string_view name) {
    const auto at = static_cast<std::size_t>(load_le<std::uint64_t>(bytes, 40));
    const std::size_t names = load_le<std::uint64_t>(bytes, at + kSectionHeaderBytes + 24);
    for (std::size_t i = 0; i < load_le<std::uint16_t>(bytes, 60); ++i) {
      const std::size_t s = at + i * kSectionHeaderBytes;
      const char* n = reinterpret_cast<const char*>(bytes.data()) + names + load_le<std::uint32_t>(bytes, s);
      if (name == n) return s;
    }
    ADD_FAILURE() << name;
    return 0;
  }
  std::size_t data(std::string_view name) { return load_le<std::uint64_t>(bytes, header(name) + 24); }
  std::uint64_t size(std::string_view name) { return load_le<std::uint64_t>(bytes, header(name) + 32); }

  std::string message() {
    const auto image = read_cubin(bytes.data(), bytes.size());
    return image.ok() ? "read" : image.error().message;
  }
};

TEST(HostileCubin, SaysWhichField) {
  Victim v;
  const std::string size = std::to_string(v.bytes.size());
  const std::string count = std::to_string(load_le<std::uint16_t>(v.bytes, 60));
  const auto with = [](auto&& change) {
    Victim victim;
    change(victim);
    return victim.message();
  };
  EXPECT_EQ(v.message(), "read");
  EXPECT_EQ(read_cubin(nullptr, 0).error().message, "ELF header: the file has 0 bytes, need at least 64");
  EXPECT_EQ(with([](Victim& x) { x.bytes[1] = 'e'; }), "ELF header: the magic number is missing");
  EXPECT_EQ(with([](Victim& x) { x.bytes[4] = 1; }), "ELF header: not a 64-bit little-endian file");
  EXPECT_EQ(with([](Victim& x) { x.bytes[7] = 3; }), "ELF header: cubin ABI 3.7 is not known, need 51.7 or 65.8");
  EXPECT_EQ(with([](Victim& x) { poke(x.bytes, 18, 2, 62); }), "ELF header: e_machine is 62, a cubin has 190");
  EXPECT_EQ(with([](Victim& x) { x.bytes[48] = 72; }), "ELF header: e_flags name sm_72, which is not supported");
  EXPECT_EQ(with([](Victim& x) { poke(x.bytes, 58, 2, 40); }), "ELF header: e_shentsize is 40, need 64");
  EXPECT_EQ(with([](Victim& x) { poke(x.bytes, 40, 8, ~0ull); }),
            "ELF header: " + count +
                " section headers at offset 18446744073709551615 reach past the end of the file (" + size + " bytes)");
  EXPECT_EQ(with([](Victim& x) { poke(x.bytes, 62, 2, 99); }),
            "ELF header: e_shstrndx is 99 of " + count + " sections");
  EXPECT_EQ(with([](Victim& x) { poke(x.bytes, x.header(".text.k") + 32, 8, 1ull << 63); }),
            "section 6: sh_offset " + std::to_string(v.data(".text.k")) +
                " and sh_size 9223372036854775808 reach past the end of the file (" + size + " bytes)");
  EXPECT_EQ(with([](Victim& x) { poke(x.bytes, x.header(".text.k"), 4, 1u << 31); }),
            "section 6: sh_name 2147483648 is not a name in the string table");
  EXPECT_EQ(with([](Victim& x) { poke(x.bytes, x.header(".strtab") + 32, 8, x.size(".strtab") - 1); }),
            "section 3 '.symtab': symbol 4: st_name " +
                std::to_string(load_le<std::uint32_t>(v.bytes, v.data(".symtab") + 4 * kSymbolBytes)) +
                " is not a name in the string table");
  EXPECT_EQ(with([](Victim& x) { poke(x.bytes, x.header(".text.k") + 24, 8, x.data(".nv.constant0.k")); }),
            "section 8 '.nv.constant0.k': overlaps section 6 '.text.k'");
  EXPECT_EQ(with([](Victim& x) { poke(x.bytes, x.header(".text.k") + 32, 8, 40); }),
            "kernel 'k': the symbol is not the start of its section");
  EXPECT_EQ(with([](Victim& x) {
              poke(x.bytes, x.header(".text.k") + 32, 8, 40);
              poke(x.bytes, x.data(".symtab") + 4 * kSymbolBytes + 16, 8, 40);
            }),
            "kernel 'k': code of 40 bytes is not whole 16-byte instructions");
  EXPECT_EQ(with([](Victim& x) { poke(x.bytes, x.header(".nv.shared.k") + 32, 8, 1ull << 63); }),
            "kernel 'k': its .nv.shared section has 9223372036854775808 bytes, need 1024 to 233472");
  EXPECT_EQ(with([](Victim& x) { poke(x.bytes, x.header(".nv.constant0.k") + 32, 8, 536); }),
            "kernel 'k': its .nv.constant0 section has 536 bytes, need 540 to 65536");
  EXPECT_EQ(with([](Victim& x) { poke(x.bytes, x.header(".symtab") + 32, 8, 25); }),
            "section 3 '.symtab': size 25 is not whole 24-byte symbols");
  EXPECT_EQ(with([](Victim& x) { poke(x.bytes, x.header(".symtab") + 40, 4, 1000); }),
            "section 3 '.symtab': sh_link 1000 is not a string table");
  EXPECT_EQ(with([](Victim& x) { poke(x.bytes, x.data(".nv.info"), 1, 9); }),
            ".nv.info, record at byte 0: format 9, need 1 to 4");
  EXPECT_EQ(with([](Victim& x) { poke(x.bytes, x.data(".nv.info") + 2, 2, 0xffff); }),
            ".nv.info, record at byte 0: its 65535 bytes reach past the section");
  EXPECT_EQ(with([](Victim& x) { poke(x.bytes, x.data(".nv.info") + 8, 4, 1u << 31); }),
            "kernel 'k': REGCOUNT 2147483648, at most 255 can be");
  EXPECT_EQ(with([](Victim& x) { poke(x.bytes, x.data(".nv.info.k") + 8 + 4 + 4, 2, 7); }),
            "kernel 'k': .nv.info, record at byte " + std::to_string(v.size(".nv.info.k")) +
                ": KPARAM_INFO: ordinal 7 of 2 parameters");
  EXPECT_EQ(with([](Victim& x) { x.bytes[x.data(".ngasm.manifest.k")] = 'N'; }),
            "kernel 'k': manifest, line 1: record 'nervanagpu-manifest' is missing");
  EXPECT_EQ(with([](Victim& x) { x.bytes[x.data(".ngasm.lines.k")] = 'N'; }),
            "kernel 'k': line table, line 1: does not begin with nervanagpu-lines");
}

// --- files made to be expensive ---------------------------------------------------------------------------------------

// An ELF file of `count` sections after a string table, a symbol table and `code`; section 1 is the string table and
// 2 the symbol table, the others lie in `code` in order, `code_bytes` each.
Bytes synthetic(std::size_t count, const Bytes& names, const Bytes& symbols, std::size_t code_bytes) {
  Bytes bytes = small_cubin(Arch::sm_90a);
  bytes.resize(kElfHeaderBytes);
  const std::size_t names_at = bytes.size();
  append(bytes, ByteView(names));
  const std::size_t symbols_at = bytes.size();
  append(bytes, ByteView(symbols));
  const std::size_t code_at = bytes.size();
  bytes.resize(code_at + (count - 3) * code_bytes);
  const std::size_t headers = bytes.size();
  bytes.resize(headers + count * kSectionHeaderBytes);
  const auto section = [&](std::size_t i, std::uint32_t type, std::uint64_t at, std::uint64_t size) {
    const std::size_t h = headers + i * kSectionHeaderBytes;
    poke(bytes, h + 4, 4, type);
    poke(bytes, h + 8, 8, kSectionAlloc | kSectionExec);
    poke(bytes, h + 24, 8, at);
    poke(bytes, h + 32, 8, size);
    poke(bytes, h + 40, 4, 1);
  };
  section(1, kSectionStrtab, names_at, names.size());
  section(2, kSectionSymtab, symbols_at, symbols.size());
  for (std::size_t i = 3; i < count; ++i) section(i, kSectionProgbits, code_at + (i - 3) * code_bytes, code_bytes);
  poke(bytes, 40, 8, headers);
  poke(bytes, 60, 2, count);
  poke(bytes, 62, 2, 1);
  return bytes;
}

std::string refusal(const Bytes& bytes) {
  const auto image = read_cubin(bytes.data(), bytes.size());
  return image.ok() ? "read" : image.error().message;
}

// 60,000 sections whose name is a megabyte without an end: the search for it must be bounded.
TEST(HostileCubin, NamesWithoutEnd) {
  EXPECT_EQ(refusal(synthetic(60000, Bytes(1u << 20, 'x'), {}, 0)),
            "section 1: sh_name 0 is not a name in the string table");
  Bytes longest(1u << 20, 'x');
  longest[4096] = 0;
  EXPECT_EQ(refusal(synthetic(60000, longest, {}, 0)), "the cubin has no kernel");
}

// String tables may share tails: 3,000 kernels named by the tails of one string of 4,000 bytes, 20 times the file.
TEST(HostileCubin, KernelNamesThatShareTheirTails) {
  constexpr std::size_t kKernels = 3000;
  Bytes names(4001, 'x');
  names.back() = 0;
  Bytes symbols(kSymbolBytes);
  for (std::size_t i = 0; i < kKernels; ++i) {
    append_le(symbols, static_cast<std::uint32_t>(i));
    symbols.push_back(kSymbolGlobalFunction);
    symbols.push_back(kSymbolEntry);
    append_le(symbols, static_cast<std::uint16_t>(3 + i));
    append_le(symbols, std::uint64_t{0});
    append_le(symbols, std::uint64_t{16});
  }
  const std::string message = refusal(synthetic(3 + kKernels, names, symbols, 16));
  EXPECT_TRUE(message.ends_with("kernel names are longer than the file")) << message;
}

TEST(HostileCubin, SectionsThatShareBytes) {
  Bytes bytes = synthetic(1000, Bytes(1), Bytes(kSymbolBytes), 16);
  const std::size_t headers = load_le<std::uint64_t>(bytes, 40);
  poke(bytes, headers + 500 * kSectionHeaderBytes + 32, 8, 17);
  EXPECT_EQ(refusal(bytes), "section 501: overlaps section 500");
}

}  // namespace
}  // namespace nervanagpu::sass

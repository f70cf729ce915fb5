// Kernels from text for the emulator's tests, and what runs them.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sass/emulate/emulate.h"
#include "sass/isa/codec/codec.h"

namespace nervanagpu::sass::emulate::testing {

// Control codes that are always enough: every scoreboard is set by nobody and awaited by all.
inline constexpr Control kSlow{.stall = 15, .yield = true};

struct TextLine {
  std::string text;  // an instruction, or "NAME:"
  Control control = kSlow;
};

// One kernel; the line of an instruction is its place in the list, from 1.
inline KernelImage assemble(const std::vector<TextLine>& lines, std::uint32_t param_bytes = 0, std::uint32_t shared = 0,
                            Arch arch = Arch::sm_90a) {
  const Encoding e = info(arch).encoding;
  KernelImage image;
  image.name = "test";
  image.param_bytes = param_bytes;
  image.shared = shared;
  image.registers = 128;
  std::map<std::string, std::uint64_t> labels;
  std::vector<ParsedInst> parsed;
  std::uint32_t number = 0;
  for (const TextLine& line : lines) {
    ++number;
    if (line.text.back() == ':') {
      labels[line.text.substr(0, line.text.size() - 1)] = target_of(e, parsed.size());
      continue;
    }
    Result<ParsedInst> p = parse_inst(arch, line.text, {"test.sass", number, 1});
    EXPECT_TRUE(p.ok()) << line.text << "\n" << (p.ok() ? "" : p.error().text());
    if (!p.ok()) continue;
    p->inst.control = line.control;
    parsed.push_back(*p);
    image.lines.push_back({"test.sass", number, 1});
  }
  for (std::size_t i = 0; i < parsed.size(); ++i) {
    Inst inst = parsed[i].inst;
    if (!parsed[i].label.empty()) {
      EXPECT_TRUE(labels.contains(parsed[i].label)) << parsed[i].label;
      for (Operand& o : inst.operands()) {
        if (o.kind == OperandKind::kLabel) o.imm = static_cast<std::int64_t>(labels[parsed[i].label]);
      }
    }
    Result<Word> w = encode(arch, inst, address_of(e, i));
    EXPECT_TRUE(w.ok()) << print(inst) << "\n" << (w.ok() ? "" : w.error().text());
    if (w.ok()) image.code.push_back(*w);
  }
  return image;
}

// Parameters packed with their natural alignment.
class Params {
 public:
  template <class T>
  Params& add(T v) {
    bytes_.resize((bytes_.size() + sizeof v - 1) / sizeof v * sizeof v);
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof v);
    std::memcpy(bytes_.data() + at, &v, sizeof v);
    return *this;
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

template <class T>
class Buffer {
 public:
  Buffer(Memory& memory, const std::vector<T>& values)
      : memory_(memory), count_(values.size()), address_(memory.allocate(values.size() * sizeof(T))) {
    std::memcpy(memory.host(address_, count_ * sizeof(T)), values.data(), count_ * sizeof(T));
  }
  Buffer(Memory& memory, std::size_t count) : Buffer(memory, std::vector<T>(count)) {}
  ~Buffer() { memory_.free(address_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  [[nodiscard]] std::uint64_t address() const { return address_; }
  [[nodiscard]] std::vector<T> get() const {
    std::vector<T> out(count_);
    std::memcpy(out.data(), memory_.host(address_, count_ * sizeof(T)), count_ * sizeof(T));
    return out;
  }

 private:
  Memory& memory_;
  std::size_t count_;
  std::uint64_t address_;
};

inline Result<Report> run_image(const KernelImage& image, Memory& memory, Dim3 grid, Dim3 block,
                                const std::vector<std::byte>& params, Mode mode = Mode::kFast,
                                std::uint32_t dynamic_shared = 0, unsigned threads = 0, Arch arch = Arch::sm_90a) {
  Result<std::shared_ptr<const Kernel>> kernel = load(arch, image);
  if (!kernel) return kernel.error();
  return run(**kernel, memory,
             {.grid = grid,
              .block = block,
              .dynamic_shared = dynamic_shared,
              .params = params,
              .mode = mode,
              .threads = threads});
}

// `body` over one warp: R10..R17 hold the lane's inputs, R0..R3 are stored as its outputs. R100 is the thread, R102 and
// R104 the addresses of the lane's inputs and outputs; since sm_80 UR4:5 is the memory descriptor.
using In = std::array<std::uint32_t, 8>;
using Out = std::array<std::uint32_t, 4>;

inline KernelImage lane_kernel(const std::vector<std::string>& body, Arch arch = Arch::sm_90a) {
  std::vector<TextLine> lines;
  const bool narrow = info(arch).encoding == Encoding::k64;
  const Control load{.stall = 15, .yield = true, .write_sb = 0};
  const Control awaits{.stall = 15, .yield = true, .wait = 1};
  const auto add = [&](std::string text, Control c = kSlow) { lines.push_back({std::move(text), c}); };
  const auto at = [&](const char* base, unsigned row) {  // the address of one of the lane's values
    char offset[12] = "";
    if (row != 0) std::snprintf(offset, sizeof offset, "+0x%x", row * 128);
    return (narrow ? "[" : "desc[UR4][") + std::string(base) + (narrow ? "" : ".64") + offset + "]";
  };
  add("S2R R100, SR_TID.X", load);
  if (narrow) {
    add("SHL R101, R100, 0x2", awaits);
    add("IADD R102.CC, R101, c[0x0][0x140]");
    add("IADD.X R103, RZ, c[0x0][0x144]");
    add("IADD R104.CC, R101, c[0x0][0x148]");
    add("IADD.X R105, RZ, c[0x0][0x14c]");
  } else {
    const auto constant = [](unsigned offset) {
      char text[24];
      std::snprintf(text, sizeof text, "c[0x0][0x%x]", offset);
      return std::string(text);
    };
    const ArchInfo& a = info(arch);
    add("ULDC.64 UR4, " + constant(a.descriptor));
    add("LDC.64 R102, " + constant(a.param_base), load);
    add("LDC.64 R104, " + constant(a.param_base + 8), load);
    add("IMAD.WIDE.U32 R102, R100, 0x4, R102", awaits);
    add("IMAD.WIDE.U32 R104, R100, 0x4, R104");
  }
  for (unsigned i = 0; i < 8; ++i) add("LDG.E R" + std::to_string(10 + i) + ", " + at("R102", i), load);
  add("NOP", awaits);
  for (unsigned i = 0; i < 4; ++i) add("MOV R" + std::to_string(i) + ", RZ");
  for (const std::string& line : body) add(line, {.stall = 15, .yield = true, .write_sb = 0, .wait = 1});
  for (unsigned i = 0; i < 4; ++i) add("STG.E " + at("R104", i) + ", R" + std::to_string(i), awaits);
  add("EXIT");
  return assemble(lines, 16, 4096, arch);
}

// Runs lane_kernel(body) on one warp of inputs.
inline std::array<Out, 32> run_lanes(const KernelImage& image, const std::array<In, 32>& in, Mode mode = Mode::kFast,
                                     Arch arch = Arch::sm_90a) {
  Memory memory(1 << 20);
  std::vector<std::uint32_t> flat(256);
  for (unsigned l = 0; l < 32; ++l) {
    for (unsigned i = 0; i < 8; ++i) flat[i * 32 + l] = in[l][i];
  }
  Buffer<std::uint32_t> from(memory, flat);
  Buffer<std::uint32_t> to(memory, std::vector<std::uint32_t>(128, 0xabababab));
  const Result<Report> report = run_image(image, memory, {1, 1, 1}, {32, 1, 1},
                                          Params().add(from.address()).add(to.address()).bytes(), mode, 0, 0, arch);
  std::array<Out, 32> out{};
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().text());
  if (!report.ok()) return out;
  for (const Finding& f : report->findings) ADD_FAILURE() << f.text();
  const std::vector<std::uint32_t> got = to.get();
  for (unsigned l = 0; l < 32; ++l) {
    for (unsigned i = 0; i < 4; ++i) out[l][i] = got[i * 32 + l];
  }
  return out;
}

}  // namespace nervanagpu::sass::emulate::testing

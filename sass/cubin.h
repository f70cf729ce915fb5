// A cubin as plain data: what link writes and read_cubin reads, and the only form of it that other parts see.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sass/asm/program.h"
#include "sass/isa/arch.h"
#include "sass/isa/word.h"
#include "sass/result.h"

namespace nervanagpu::sass {

struct KernelImage {
  std::string name;
  std::vector<Word> code;                // control bits at [125:105] in both families (word.h)
  std::uint32_t registers = 0;           // GPRs of a thread, as REGCOUNT says
  std::uint32_t shared = 0;              // static shared memory in bytes, the reserved first KB of sm_90 not counted
  std::uint32_t local = 0;               // bytes of stack and local memory of a thread
  std::uint32_t barriers = 0;            // named barriers used
  std::uint32_t max_threads = 0;         // 0: not stated
  std::uint32_t reqntid[3] = {0, 0, 0};  // exact CTA size; zeros: not stated
  std::uint32_t param_bytes = 0;
  std::vector<Param> params;            // from the manifest; names empty in cubins that are not ours
  std::vector<std::uint8_t> constant0;  // initial image of c[0x0] (usually zeros)
  std::vector<std::uint8_t> constant2;  // c[0x2], literals of ptxas for sm_50 .. sm_62; read, not written
  std::vector<Span> lines;              // source position of each instruction; empty: unknown
  Manifest manifest;                    // ours only: manifest.name empty otherwise
};

struct CubinImage {
  Arch arch = Arch::sm_90a;
  std::vector<KernelImage> kernels;
};

// ELF bytes, ABI 7. Fails on what no cubin can hold (no kernels, two of one name, code of another architecture).
Result<std::vector<std::uint8_t>> write_cubin(const CubinImage& image);

// Any bytes in, a value or a Diag out; never reads outside `bytes`. Sizes and offsets are hostile until checked.
Result<CubinImage> read_cubin(const std::uint8_t* bytes, std::size_t size);

}  // namespace nervanagpu::sass

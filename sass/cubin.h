// A cubin as plain data: what link writes and read_cubin reads, and the only form of it that other parts see.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sass/asm/program.h"
#include "sass/isa/arch.h"
#include "sass/isa/word.h"
#include "sass/line_table.h"
#include "sass/result.h"

namespace nervanagpu::sass {

// A place that takes an address when a cubin is loaded.
struct Relocation {
  enum class To : std::uint8_t { kVariable, kFunction, kCode };
  std::uint32_t offset = 0;  // of the place
  std::uint8_t bytes = 8;    // 4 or 8
  To to = To::kVariable;
  // kVariable: offset in the variables; kFunction: index in ModuleData::externals; kCode: address of an instruction in
  // every kernel, whose first one is at 0.
  std::uint64_t value = 0;
};

// An instruction that does so. The code has the value of kCode already, as if the kernel lay at address 0.
struct CodeRelocation {
  enum class Field : std::uint8_t { kLow, kHigh, kCall, kOther };  // halves of an immediate; the target of CALL.ABS
  std::uint32_t index = 0;                                         // of the instruction
  Field field = Field::kOther;
  Relocation::To to = Relocation::To::kVariable;
  std::uint64_t value = 0;  // as above; kOther: the ELF type, which is not known
};

struct KernelImage {
  std::string name;
  std::vector<Word> code;         // control bits at [125:105] in both families (word.h); linked: see code_layout.h
  std::uint32_t registers = 0;    // GPRs of a thread, as REGCOUNT says
  std::uint32_t shared = 0;       // static shared memory in bytes, the reserved first KB of sm_90 not counted
  std::uint32_t local = 0;        // bytes of stack and local memory of a thread
  std::uint32_t barriers = 0;     // named barriers used
  std::uint32_t max_threads = 0;  // 0: not stated
  std::uint32_t reqntid[3] = {0, 0, 0};  // exact CTA size; zeros: not stated
  std::uint32_t cluster[3] = {0, 0, 0};  // CTAs of a cluster, as read from a cubin; zeros: not stated
  std::uint32_t param_bytes = 0;
  std::vector<Param> params;                // from the manifest; names empty in cubins that are not ours
  std::vector<std::uint8_t> constant0;      // initial image of c[0x0] (usually zeros)
  std::vector<std::uint8_t> constant2;      // c[0x2]: literals and tables of jumps by ptxas; read, not written
  std::vector<CodeRelocation> relocations;  // of linked cubins; read, not written
  LineTable lines;                          // source position of each instruction; empty: unknown
  Manifest manifest;                        // ours only: manifest.name empty otherwise
};

struct Variable {
  enum class Place : std::uint8_t { kGlobal, kConstant };
  std::string name;
  Place place = Place::kGlobal;
  std::uint64_t offset = 0;  // in the variables, or in c[0x3]
  std::uint64_t bytes = 0;
};

// What the kernels of a cubin share: variables in global memory, and the constant banks that they and the compiler
// keep. Read, not written.
struct ModuleData {
  std::vector<std::uint8_t> initial;    // the first variables' values; zeros after them
  std::uint64_t bytes = 0;              // of all variables
  std::vector<std::uint8_t> constant3;  // c[0x3]: __constant__ variables
  std::vector<std::uint8_t> constant4;  // c[0x4]: addresses of variables and functions
  std::vector<Relocation> in_variables, in_constant3, in_constant4;
  std::vector<Variable> variables;     // those that have a name
  std::vector<std::string> externals;  // functions that the driver has to have: vprintf, malloc
};

struct CubinImage {
  Arch arch = Arch::sm_90a;
  std::vector<KernelImage> kernels;
  ModuleData data = {};
};

// What drivers are told that a cubin is: CUDA 12's, or CUDA 13's, which begins with sm_75.
enum class CubinAbi : std::uint8_t { k7 = 7, k8 = 8 };

// ELF bytes. Fails on what no cubin can hold (no kernels, two of one name, code of another architecture).
Result<std::vector<std::uint8_t>> write_cubin(const CubinImage& image, CubinAbi abi = CubinAbi::k7);

// Any bytes in, a value or a Diag out; never reads outside `bytes`. Sizes and offsets are hostile until checked.
Result<CubinImage> read_cubin(const std::uint8_t* bytes, std::size_t size);

}  // namespace nervanagpu::sass

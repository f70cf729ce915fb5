// A loaded kernel: its micro-operations, and what checked mode knows about each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sass/emulate/emulate.h"
#include "sass/emulate/uop/uop.h"
#include "sass/isa/inst.h"

namespace nervanagpu::sass::emulate {

struct CheckOp;
struct QuickOp;

// The constant banks that the kernels of a module share, and the functions that it does not have itself.
struct SharedBanks {
  std::vector<std::uint8_t> constant3, constant4;
  std::vector<std::string> externals;
};

class Kernel {
 public:
  Arch arch = Arch::sm_90a;
  std::string name;
  LineTable lines;                      // may be empty
  std::vector<std::uint8_t> constant0;  // initial image of c[0]
  std::vector<std::uint8_t> constant2;  // c[2]
  std::shared_ptr<const SharedBanks> banks;
  std::uint32_t param_bytes = 0;
  std::uint32_t shared = 0;  // static, bytes
  std::uint32_t local = 0;   // bytes a thread
  std::uint32_t max_threads = 0;
  std::array<std::uint32_t, 3> reqntid{};
  std::array<std::uint32_t, 3> cluster{1, 1, 1};
  bool explicit_cluster = false;
  std::uint32_t registers = 0;    // of a thread when it starts
  std::uint32_t row_count = 0;    // rows of a warp's register file
  std::uint32_t const_bytes = 0;  // how far constant operands reach
  std::vector<Uop> uops;          // one an instruction, and one that faults after the last
  std::vector<Detail> details;    // parallel to uops
  std::vector<CheckOp> checks;    // parallel to uops; see check.h
  std::vector<QuickOp> quick;     // parallel to uops
  std::vector<std::string> text;  // parallel: the mnemonic, for messages

  Kernel();
  ~Kernel();
};

Result<std::shared_ptr<const Kernel>> load(Arch arch, const KernelImage& image,
                                           std::shared_ptr<const SharedBanks> banks);

}  // namespace nervanagpu::sass::emulate

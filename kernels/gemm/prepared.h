// A product whose kernel is chosen and whose parameters are packed: what gemm() and GemmPlan launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/gemm/gemm.h"
#include "nervanagpu/gemm.hpp"
#include "src/device/device.h"
#include "src/launch/map_cache.h"
#include "src/launch/values.h"

namespace nervanagpu::sgemm {

struct PiecesOf;  // families.h

class Prepared {
 public:
  // What may differ from launch to launch.
  struct Call {
    std::uint64_t a = 0, b = 0, c = 0, bias = 0, workspace = 0;
    float alpha = 1.0F, beta = 0.0F;  // beta is 0 if and only if the problem's is
    std::uint64_t seed = 0, rounding_offset = 0;
    std::uint64_t scale = 0, mask = 0;
    std::uint64_t row_sum = 0, column_sum = 0, row_max_abs = 0, column_max_abs = 0;
    std::uint64_t a_pieces = 0, b_pieces = 0;
    std::uint64_t nothing = 0;  // stays 0
  };

  // `problem`: of normal_form(), with m and n above 0.
  Prepared(Device& device, const GemmProblem& problem, const Plan& plan);

  [[nodiscard]] const Kernel& kernel() const { return *main_.kernel; }
  [[nodiscard]] std::size_t workspace() const { return workspace_; }         // bytes
  [[nodiscard]] int pieces() const { return pieces_ ? pieces_->count : 0; }  // of an element
  // The addresses are aligned as the problem's are, or better: .needs were checked with those when it was made.
  void launch(const Call& call, StreamId stream) const;

 private:
  static constexpr std::size_t kMaxBlock = 1280;  // bytes of parameters
  static constexpr std::uint16_t kNone = 0xffff;
  struct Part {  // one kernel
    const Kernel* kernel = nullptr;
    Grid grid;
    std::vector<std::byte> block;
  };
  // Where parameters lie in a block.
  struct Finish {
    std::uint16_t out = kNone, bias = kNone, alpha = kNone, beta = kNone, seed = kNone, offset = kNone, scale = kNone,
                  mask = kNone;
    std::uint64_t out_plus = 0, bias_plus = 0, offset_plus = 0;  // after what a call has
  };
  static Part part_of(const Kernel& kernel, const Grid& grid, const Values& values);
  static Finish finish_of(const Kernel& kernel, const char* out);
  void put_finish(std::byte* block, const Finish& at, const Call& call) const;
  // Its launches in order: queue(part, block). Without maps, which are in no condition.
  template <class Queue>
  void each(const Call& call, bool maps, const Queue& queue) const;
  void check(const GemmProblem& problem);

  Device& device_;
  Dtype c_type_;
  std::size_t workspace_ = 0;
  Part main_;
  std::uint16_t a_ = kNone, b_ = kNone;  // in main_, addresses or maps
  bool swapped_ = false;                 // the kernel's a is the problem's b
  std::unique_ptr<MapCache> map_a_, map_b_;
  std::uint16_t first_a_ = kNone, first_b_ = kNone;  // elements before them, if the kernel wants to know
  std::optional<Part> sum_;                          // of the splits of k; then main_ writes to the workspace
  std::uint16_t partial_sums_ = kNone, sums_ = kNone;
  Finish finish_;  // in sum_ if there is one, else in main_
  struct Patch {   // a parameter: `plus` after what a call has
    std::uint16_t at = kNone;
    std::uint64_t Call::*from = nullptr;
    std::uint64_t plus = 0;
  };
  struct Place {  // of pieces
    std::uint64_t Call::*from = nullptr;
    std::uint64_t plus = 0;
    [[nodiscard]] std::uint64_t in(const Call& call) const { return call.*from + plus; }
  };
  std::uint16_t c_ = kNone;  // in main_, a map of what lies there: C, the partial sums or, where nobody reads it, a
  Place of_c_;
  std::unique_ptr<MapCache> map_c_;
  struct After {
    Part part;
    std::vector<Patch> patches;
  };
  // bf16x6.h, f16x3.h: what comes before the kernel, and after it what computes the product where that one does not.
  struct Step {
    After launch;
    bool product = false;  // writes what the kernel would have
    std::uint16_t a = kNone, b = kNone, c = kNone;
    std::unique_ptr<MapCache> map_a, map_b;  // of pieces; none: its a and b are the call's
    Place a_pieces, b_pieces;
    Finish finish;
  };
  struct InPieces {
    int count = 0;  // of an element
    Place a, b;
    std::vector<Patch> own;  // of the kernel
    std::vector<Step> before, behind;
  };
  void add_pieces(const GemmProblem& problem, const Plan& plan, const PiecesOf& of);
  void add_tail(const GemmProblem& problem, const Plan& plan);
  template <class Queue>
  void step(const Step& step, const Call& call, bool maps, const Queue& queue) const;
  std::unique_ptr<InPieces> pieces_;     // null: operands are multiplied as they are
  std::size_t partial_sums_offset_ = 0;  // of the splits of k in the workspace
  void add_sum(const GemmProblem& problem, const Plan& plan);
  void add_after(const GemmProblem& problem, const Plan& plan);
  std::vector<After> after_;  // what reads C after all others
  std::vector<CheckedLaunch> checked_;
};

Prepared::Call call_of(const GemmProblem& problem);

// The problem with what cannot matter to the choice of a kernel put to one value: addresses are the power of two that they
// are aligned to, at most 16, and the workspace is 16 or 0.
GemmProblem normal_form(const GemmProblem& problem);

// Plans that were made before are found again; with autotune() and no `tile` new ones are measured, unless `stream` is being
// captured. `problem`: of normal_form().
std::shared_ptr<const Prepared> prepared(Device& device, const GemmProblem& problem, const std::string& tile,
                                         StreamId stream = 0);
// gemm_workspace(), the same way.
std::size_t workspace_of(Device& device, const GemmProblem& problem, const std::string& tile);

}  // namespace nervanagpu::sgemm

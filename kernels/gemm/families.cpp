#include "kernels/gemm/families.h"

#include <algorithm>
#include <array>

#include "kernels/gemm/float32/sgemm_ring.h"
#include "kernels/gemm/pieces/bf16x6_rs.h"
#include "kernels/gemm/pieces/f16x3.h"
#include "kernels/gemm/pieces/f16x3_rs.h"
#include "kernels/gemm/simt.h"
#include "kernels/gemm/wide/gemm64.h"
#include "nervanagpu/error.hpp"

namespace nervanagpu::sgemm {
namespace {

using Splits = std::int64_t;
using P = GemmProblem;

// float64 and int64: dgemm.sass and gemm64.sass.
constexpr Family kElementsOf64Bits = {
    .cost = [](const Kernel& k, const P& p, Splits, int processors) { return gemm64::cost(k, p, processors); },
    .fits = [](const Kernel& k, const P& p, Splits,
               std::string_view tile) { return gemm64::fits(k, p, tile) && simt::fits_columns(k, p); },
    .grid = [](const Kernel& k, const P& p, Splits, int) { return simt::columns_grid(k, p); },
    .values = [](const Plan& x, const P& p,
                 Device*) { return gemm64::values(p, simt::columns_of_tiles(*x.kernel, p)); },
};

// float32 that the copy engine feeds.
constexpr Family kCopyEngineRing = {
    .values = [](const Plan& x, const P& p,
                 Device* device) { return sgemm_ring::values(*x.kernel, p, *x.ring, device); },
    .adds_splits = true,
};

constexpr Family kTensorCores = {
    .cost = hgemm::cost,
    .fits = hgemm::fits,
    .grid = hgemm::grid,
    .values = [](const Plan& x, const P& p, Device* device) { return hgemm::values(*x.kernel, p, x.splits, device); },
    .maps = [](const Plan& x, const P& p) { return hgemm::maps(*x.kernel, p); },
    .scales_sums = true,
    .keeps_mask = true,
};

constexpr Family kThreePieces = {
    .cost = bf16x6::cost,
    .fits = [](const Kernel& k, const P& p, Splits, std::string_view tile) { return bf16x6::fits(k, p, tile); },
    .grid = bf16x6::grid,
    .values = [](const Plan& x, const P& p, Device* device) { return bf16x6::values(*x.kernel, p, x.splits, device); },
    .maps = [](const Plan& x, const P& p) { return bf16x6::maps(*x.kernel, p); },
    .keeps_mask = true,
    .pieces = {.count = bf16x6::kPieces,
               .room = [](const Plan& x, const P& p) { return bf16x6::room(p, x.splits, bf16x6::kPieces); },
               .split = [](const Registry& all, const Plan& x, const P& p) { return bf16x6::split(all, p, x.splits); }},
};

// Where three pieces may follow, operands whose two are kept have room, too.
bf16x6::Room room_of_two(const Plan& x, const P& p) {
  const std::int64_t kept = x.strict_behind ? f16x3::kPieces : 0;
  bf16x6::Room out = bf16x6::room(p, x.splits, kept);
  out.bytes = f16x3::workspace(p, x.splits, x.tail, kept);
  return out;
}

constexpr Family kTwoPieces = {
    .cost = f16x3::cost,
    .fits = [](const Kernel& k, const P& p, Splits, std::string_view tile) { return f16x3::fits(k, p, tile); },
    .grid = f16x3::grid,
    .values = [](const Plan& x, const P& p,
                 Device* device) { return f16x3::values(*x.kernel, p, x.splits, device, x.tail); },
    .maps = [](const Plan& x, const P& p) { return f16x3::maps(*x.kernel, p); },
    .pieces = {.count = f16x3::kPieces,
               .room = room_of_two,
               .split = [](const Registry& all, const Plan& x, const P& p) { return f16x3::split(all, p, x.splits); }},
};

constexpr Family with_op(std::string_view op, Family family) {
  family.op = op;
  return family;
}

constexpr Family adding_splits(Family family) {
  family.adds_splits = true;
  family.keeps_mask = false;
  return family;
}

// Which of them may compute a problem: candidates() of gemm.cpp.
constexpr std::array kFamilies = {
    Family{
        .op = "sgemm",
        .cost = simt::sgemm_cost,
        .fits = simt::sgemm_fits,
        .grid = [](const Kernel& k, const P& p, Splits, int) { return simt::columns_grid(k, p); },
        .values = [](const Plan& x, const P& p, Device*) { return simt::sgemm_values(*x.kernel, p); },
    },
    Family{
        .op = "gemm",
        .cost = simt::gemm_cost,
        .fits = simt::gemm_fits,
        .grid = [](const Kernel& k, const P& p, Splits splits, int) { return simt::gemm_grid(k, p, splits); },
        .values = [](const Plan& x, const P& p, Device*) { return simt::gemm_values(p, x.splits); },
    },
    with_op("sgemm_ring", kCopyEngineRing),
    with_op("sgemm_ring8", kCopyEngineRing),
    with_op("dgemm", kElementsOf64Bits),
    with_op("gemm64", kElementsOf64Bits),
    with_op("hgemm", kTensorCores),
    with_op("hgemm_resident", kTensorCores),
    with_op("hgemm_cluster", adding_splits(kTensorCores)),
    with_op("bf16x6", kThreePieces),
    with_op("bf16x6_32", kThreePieces),
    Family{
        .op = "bf16x6_rs",
        .cost = bf16x6_rs::cost,
        .fits = bf16x6_rs::fits,
        .grid = bf16x6_rs::grid,
        .values = [](const Plan& x, const P& p,
                     Device* device) { return bf16x6_rs::values(*x.kernel, p, x.splits, device); },
        .maps = [](const Plan& x, const P& p) { return bf16x6_rs::maps(*x.kernel, p, x.splits); },
        .keeps_mask = true,
        .pieces = {.count = bf16x6::kPieces,
                   .room = [](const Plan& x, const P& p) { return bf16x6_rs::room(p, x.splits); },
                   .split = [](const Registry& all, const Plan& x,
                               const P& p) { return bf16x6_rs::split(all, p, x.splits); },
                   .large_a = [](const Kernel&) { return true; },
                   .looks_at_large = bf16x6_rs::reads_c},
    },
    with_op("f16x3", kTwoPieces),
    with_op("f16x3_compensated", kTwoPieces),
    Family{
        .op = "f16x3_rs",
        .cost = f16x3_rs::cost,
        .fits = f16x3_rs::fits,
        .grid = f16x3_rs::grid,
        .values = [](const Plan& x, const P& p,
                     Device* device) { return f16x3_rs::values(*x.kernel, p, x.splits, device); },
        .maps = [](const Plan& x, const P& p) { return f16x3_rs::maps(*x.kernel, p); },
        .pieces = {.count = f16x3::kPieces,
                   .room = [](const Plan& x, const P& p) { return f16x3_rs::room(*x.kernel, p, x.splits); },
                   .split = [](const Registry& all, const Plan& x,
                               const P& p) { return f16x3_rs::split(all, *x.kernel, p, x.splits); },
                   .large_a = f16x3_rs::large_a},
    },
};

}  // namespace

const Family& family_of(const Kernel& kernel) {
  const auto found = std::ranges::find(kFamilies, std::string_view(kernel.manifest().op), &Family::op);
  if (found == kFamilies.end()) throw Error("kernel " + kernel.name() + " is of no family that multiplies matrices");
  return *found;
}

}  // namespace nervanagpu::sgemm

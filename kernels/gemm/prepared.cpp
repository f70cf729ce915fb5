#include "kernels/gemm/prepared.h"

#include <array>
#include <bit>
#include <cstring>
#include <initializer_list>
#include <span>
#include <tuple>

#include "kernels/gemm/epilogue/relu_mask.h"
#include "kernels/gemm/epilogue/result_sums.h"
#include "kernels/gemm/families.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/pieces/bf16x6.h"
#include "kernels/gemm/pieces/f16x3.h"
#include "kernels/gemm/pieces/kept.h"
#include "kernels/gemm/tensor_cores/hgemm.h"
#include "kernels/split_sum/split_sum.h"
#include "nervanagpu/error.hpp"
#include "src/launch/arguments.h"

namespace nervanagpu::sgemm {
namespace {

std::uint16_t offset_of(const Kernel& kernel, std::string_view name, std::uint16_t none) {
  for (const sass::Param& p : kernel.manifest().params) {
    if (p.name == name) return p.offset;
  }
  return none;
}

template <class T>
void put(std::byte* block, std::uint16_t at, std::uint16_t none, T value) {
  if (at != none) std::memcpy(block + at, &value, sizeof value);
}

}  // namespace

Prepared::Part Prepared::part_of(const Kernel& kernel, const Grid& grid, const Values& values) {
  Arguments arguments(kernel.manifest());
  values.pack(arguments);
  const auto block = arguments.block();
  if (block.size() > kMaxBlock) {
    throw Error("kernel " + kernel.name() + " has " + std::to_string(block.size()) +
                " bytes of parameters; a plan has " + std::to_string(kMaxBlock));
  }
  return {&kernel, grid, {block.begin(), block.end()}};
}

Prepared::Finish Prepared::finish_of(const Kernel& kernel, const char* out) {
  const auto at = [&](std::string_view name) { return offset_of(kernel, name, kNone); };
  return {at(out), at("bias"), at("alpha"), at("beta"), at("seed"), at("round_offset"), at("scale"), at("mask")};
}

Prepared::Prepared(Device& device, const GemmProblem& problem, const Plan& plan)
    : device_(device), c_type_(problem.c_type) {
  main_ = part_of(*plan.kernel, plan.grid, values_of(plan, problem, nullptr));
  a_ = offset_of(*plan.kernel, "a", kNone);
  b_ = offset_of(*plan.kernel, "b", kNone);
  const Family& family = family_of(*plan.kernel);
  if (family.pieces.count != 0) add_pieces(problem, plan, family.pieces);
  if (family.maps != nullptr) {
    const hgemm::Maps maps = family.maps(plan, problem);
    swapped_ = maps.swapped;
    map_a_ = std::make_unique<MapCache>(std::vector{maps.a});
    map_b_ = std::make_unique<MapCache>(std::vector{maps.b});
    c_ = offset_of(*plan.kernel, "c_map", kNone);
    if (c_ != kNone) {
      map_c_ = std::make_unique<MapCache>(std::vector{maps.of_c()});
      of_c_ = !maps.c           ? pieces_->a
              : plan.splits > 1 ? Place{&Call::workspace, partial_sums_offset_}
                                : Place{&Call::c, 0};
    }
  }
  if (plan.ring) {
    GemmProblem aligned = problem;
    aligned.a = aligned.b = 0;
    const auto cache_of = [](const sgemm_ring::Maps& maps) {
      return std::make_unique<MapCache>(
          std::vector(maps.of.begin(), maps.of.begin() + static_cast<std::ptrdiff_t>(maps.count)));
    };
    swapped_ = plan.ring->swapped;
    map_a_ = cache_of(sgemm_ring::maps_a(*plan.kernel, aligned, swapped_));
    map_b_ = cache_of(sgemm_ring::maps_b(*plan.kernel, aligned, swapped_));
    first_a_ = offset_of(*plan.kernel, "a_first", kNone);
    first_b_ = offset_of(*plan.kernel, "b_first", kNone);
  }
  if (finished_apart(plan, problem)) {
    add_sum(problem, plan);
  } else {
    finish_ = finish_of(*plan.kernel, "c");
  }
  add_after(problem, plan);
  check(problem);
}

void Prepared::check(const GemmProblem& p) {
  constexpr std::uint64_t kEntry = 8, kWorkspace = 16;
  const auto at = [&](std::uint64_t address) { return address != 0 && p.pointers != 0 ? kEntry : address; };
  const Call least = {at(p.a),
                      at(p.b),
                      at(p.c),
                      p.bias,
                      workspace_ != 0 ? kWorkspace : 0,
                      p.alpha,
                      p.beta,
                      0,
                      0,
                      p.scale,
                      p.mask,
                      p.row_sum,
                      p.column_sum,
                      p.row_max_abs,
                      p.column_max_abs,
                      p.a_pieces.address,
                      p.b_pieces.address};
  each(least, false, [&](const Part& part, std::span<const std::byte> block) {
    checked_.push_back(Device::check(*part.kernel, part.grid, block));
  });
}

void Prepared::add_sum(const GemmProblem& problem, const Plan& plan) {
  const split_sum::Plan sum = split_sum::plan(device_.registry(), sum_of(problem, plan.splits));
  sum_ = part_of(*sum.kernel, sum.grid, sum.values);
  partial_sums_ = offset_of(*plan.kernel, "c", kNone);
  sums_ = offset_of(*sum.kernel, "ws", kNone);
  finish_ = finish_of(*sum.kernel, "out");
  workspace_ = partial_sums_offset_ + static_cast<std::size_t>(plan.splits * problem.m * problem.n) * 4;
}

void Prepared::add_pieces(const GemmProblem& problem, const Plan& plan, const PiecesOf& of) {
  const Registry& registry = device_.registry();
  const bf16x6::Room room = of.room(plan, problem);
  const int count = of.count;
  const bool two = count == f16x3::kPieces;
  const bf16x6::Unless unless = two ? f16x3::unless(problem, plan.splits) : bf16x6::Unless{};
  const bool strict = two && plan.strict_behind;
  workspace_ = room.bytes;
  partial_sums_offset_ = room.partial_sums;
  pieces_ = std::make_unique<InPieces>();
  InPieces& out = *pieces_;
  const Place workspace_a = {&Call::workspace, room.a};
  const Place workspace_b = {&Call::workspace, room.b};
  out.count = count;
  const auto kept = [&](const PiecesAt& x) { return kept::has(x, count); };
  out.a = kept(problem.a_pieces) ? Place{&Call::a_pieces, kept::before(count)} : workspace_a;
  out.b = kept(problem.b_pieces) ? Place{&Call::b_pieces, kept::before(count)} : workspace_b;
  const auto at = [](const Kernel& kernel, std::string_view name) { return offset_of(kernel, name, kNone); };
  const auto found = [&](const Kernel& kernel) {  // where kernels read what others have found
    std::vector<Patch> all;
    if (!strict) all.push_back({at(kernel, "ranges"), &Call::workspace, 0});
    if (two) all.push_back({at(kernel, "halves"), &Call::workspace, room.statistics});
    return all;
  };
  const auto split = [&](const bf16x6::Launch& l, bool first) {
    Step x;
    x.launch = {part_of(*l.kernel, l.grid, l.values), found(*l.kernel)};
    for (const Patch& p : {Patch{at(*l.kernel, "from_a"), &Call::a, 0}, Patch{at(*l.kernel, "from_b"), &Call::b, 0},
                           Patch{at(*l.kernel, "to_a"), &Call::workspace, room.a},
                           Patch{at(*l.kernel, "to_b"), &Call::workspace, room.b}}) {
      x.launch.patches.push_back(p);
    }
    const auto words = [&](const char* name, const PiecesAt& pieces, std::uint64_t Call::*from, bool k_inside) {
      if (first && kept(pieces)) {
        x.launch.patches.push_back({at(*l.kernel, name), from, kept::words_at(count, k_inside)});
      }
    };
    words("kept_a", problem.a_pieces, &Call::a_pieces, !problem.a_transposed);
    words("kept_b", problem.b_pieces, &Call::b_pieces, problem.b_transposed);
    return x;
  };
  const auto product = [&](const bf16x6::Launch& l) {
    Step x;
    x.launch = {part_of(*l.kernel, l.grid, l.values), found(*l.kernel)};
    x.product = true;
    x.a = at(*l.kernel, "a"), x.b = at(*l.kernel, "b"), x.c = at(*l.kernel, "c");
    x.finish = finish_of(*l.kernel, "c");
    return x;
  };
  out.own = found(*plan.kernel);
  const bf16x6::Launch l = of.split(registry, plan, problem);
  if (of.large_a != nullptr) {
    const bool large_a = of.large_a(*plan.kernel);
    const auto x = large_a ? &Call::b : &Call::a;
    const PiecesAt& kept_x = large_a ? problem.b_pieces : problem.a_pieces;
    const bool both = of.looks_at_large != nullptr && of.looks_at_large(problem, plan.splits);  // it is the launch's a
    const std::uint64_t words_at = (two ? room.statistics : 0) + (large_a && !both ? kept::kWords : 0);
    Step first;  // which else knows the small operand as its a
    first.launch = {part_of(*l.kernel, l.grid, l.values),
                    {{at(*l.kernel, two ? "halves" : "ranges"), &Call::workspace, words_at},
                     {at(*l.kernel, "from_a"), both ? &Call::a : x, 0},
                     {at(*l.kernel, "from_b"), x, 0},
                     {at(*l.kernel, "to_a"), &Call::workspace, large_a ? room.b : room.a},
                     {at(*l.kernel, "to_b"), &Call::workspace, large_a ? room.b : room.a}}};
    if (kept(kept_x)) {
      const auto from = large_a ? &Call::b_pieces : &Call::a_pieces;
      const std::uint64_t words = kept::words_at(count, large_a ? problem.b_transposed : !problem.a_transposed);
      for (const char* name : {"kept_a", "kept_b"}) {
        if (both && name == std::string_view("kept_a")) continue;
        first.launch.patches.push_back({at(*l.kernel, name), from, words});
      }
    }
    out.before.push_back(std::move(first));
    const Place whole = {large_a ? &Call::a : &Call::b, 0};
    (large_a ? out.a : out.b) = whole;
    if (two) out.own.push_back({at(*plan.kernel, "from"), whole.from, 0});
  } else {
    out.before.push_back(split(l, true));
    if (plan.tail) add_tail(problem, plan);
    if (two && !strict) {
      out.behind.push_back(split(bf16x6::split(registry, problem, plan.splits, unless), false));
      const bf16x6::Launch three = f16x3::otherwise(registry, problem, plan.splits, device_.info().multiprocessors);
      const hgemm::Maps maps = bf16x6::maps(*three.kernel, problem);
      Step x = product(three);
      x.map_a = std::make_unique<MapCache>(std::vector{maps.a});
      x.map_b = std::make_unique<MapCache>(std::vector{maps.b});
      x.a_pieces = workspace_a, x.b_pieces = workspace_b;
      out.behind.push_back(std::move(x));
    }
  }
  out.behind.push_back(product(bf16x6::otherwise(registry, problem, plan.splits, !strict, unless)));
}

void Prepared::add_tail(const GemmProblem& problem, const Plan& plan) {
  const Registry& registry = device_.registry();
  const f16x3::Tail& tail = *plan.tail;
  const GemmProblem part = f16x3::tail_part(problem, tail);
  const f16x3::Offsets plus = f16x3::offsets_of(problem, tail);
  const bool cut = tail.splits > 1;
  const auto add = [&](const Kernel& kernel, const Grid& grid, const Values& values, const char* c, bool finishes) {
    Step x;
    x.launch = {part_of(kernel, grid, values),
                {{offset_of(kernel, "halves", kNone), &Call::workspace, bf16x6::room(problem, 1).statistics}}};
    x.product = finishes;
    x.finish = finish_of(kernel, c);
    x.finish.out_plus = plus.c, x.finish.bias_plus = plus.bias, x.finish.offset_plus = plus.rounding;
    pieces_->behind.push_back(std::move(x));
    return &pieces_->behind.back();
  };
  const auto in_workspace = [&](const Kernel& kernel, const char* name) {
    return Patch{offset_of(kernel, name, kNone), &Call::workspace, partial_sums_offset_};
  };
  const bf16x6::Launch l =
      f16x3::tail_product(registry, problem, tail, plan.kernel->manifest().op, device_.info().multiprocessors);
  Step& product = *add(*l.kernel, l.grid, l.values, "c", !cut);
  product.a = offset_of(*l.kernel, "a", kNone), product.b = offset_of(*l.kernel, "b", kNone);
  product.a_pieces = pieces_->a, product.b_pieces = pieces_->b;
  product.a_pieces.plus += plus.a, product.b_pieces.plus += plus.b;
  const hgemm::Maps maps = f16x3::tail_maps(*l.kernel, problem, tail);
  product.map_a = std::make_unique<MapCache>(std::vector{maps.a});
  product.map_b = std::make_unique<MapCache>(std::vector{maps.b});
  if (!cut) return;
  product.launch.patches.push_back(in_workspace(*l.kernel, "c"));
  split_sum::Sum parts = sum_of(part, tail.splits);
  f16x3::unless(problem, 1).put(parts.condition);
  const split_sum::Plan sum = split_sum::plan(registry, parts);
  add(*sum.kernel, sum.grid, sum.values, "out", true)->launch.patches.push_back(in_workspace(*sum.kernel, "ws"));
}

void Prepared::add_after(const GemmProblem& problem, const Plan& plan) {
  const auto add =
      [&](const Kernel& kernel, const Grid& grid, const Values& values,
          const std::initializer_list<std::tuple<const char*, std::uint64_t Call::*, std::uint64_t>>& all) {
        After after = {part_of(kernel, grid, values), {}};
        for (const auto& [name, from, plus] : all) {
          after.patches.push_back({offset_of(kernel, name, kNone), from, plus});
        }
        after_.push_back(std::move(after));
      };
  if (masked_apart(plan, problem)) {
    const MaskPlan mask = mask_plan(device_.registry(), problem);
    add(*mask.kernel, mask.grid, mask.values, {{"c", &Call::c, 0}, {"mask", &Call::mask, 0}});
  }
  if (problem.mask != 0 && !masked_apart(plan, problem) && pieces_) {  // in epilogues, of which gemm_if.sass has none
    const Values condition =
        bf16x6::Unless{}.put(Values().u64(problem.workspace).u32(bf16x6::most_exponents(problem.k)));
    const MaskPlan mask = mask_if_plan(device_.registry(), problem, condition);
    add(*mask.kernel, mask.grid, mask.values,
        {{"c", &Call::c, 0}, {"mask", &Call::mask, 0}, {"ranges", &Call::workspace, 0}});
  }
  if (!has_sums(problem)) return;
  const std::size_t columns = behind_partial_sums(workspace_);
  const std::size_t rows = columns + row_parts_at(problem);
  workspace_ = columns + sums_workspace(problem);
  const SumsPlan sums = sums_plan(device_.registry(), problem, 0);
  const bool of_columns = (problem.column_sum | problem.column_max_abs) != 0;
  const bool of_rows = (problem.row_sum | problem.row_max_abs) != 0;
  // What is not asked for has address 0.
  const auto where = [](bool wanted) { return wanted ? &Call::workspace : &Call::nothing; };
  const std::uint64_t columns_at = of_columns ? columns : 0;
  const std::uint64_t rows_at = of_rows ? rows : 0;
  add(*sums.parts, sums.parts_grid, sums.parts_values,
      {{"c", &Call::c, 0}, {"columns", where(of_columns), columns_at}, {"rows", where(of_rows), rows_at}});
  add(*sums.end, sums.end_grid, sums.end_values,
      {{"columns", where(of_columns), columns_at},
       {"rows", where(of_rows), rows_at},
       {"row_sum", &Call::row_sum, 0},
       {"column_sum", &Call::column_sum, 0},
       {"row_max_abs", &Call::row_max_abs, 0},
       {"column_max_abs", &Call::column_max_abs, 0}});
}

void Prepared::put_finish(std::byte* block, const Finish& at, const Call& call) const {
  put(block, at.out, kNone, call.c + at.out_plus);
  put(block, at.bias, kNone, call.bias + at.bias_plus);
  put(block, at.alpha, kNone, Values::scalar_bits(call.alpha, c_type_));
  put(block, at.beta, kNone, Values::scalar_bits(call.beta, c_type_));
  put(block, at.seed, kNone, call.seed);
  put(block, at.offset, kNone, call.rounding_offset + at.offset_plus);
  put(block, at.scale, kNone, call.scale);
  put(block, at.mask, kNone, call.mask);
}

template <class Queue>
void Prepared::step(const Step& x, const Call& call, bool maps, const Queue& queue) const {
  alignas(64) std::array<std::byte, kMaxBlock> block;
  const Part& part = x.launch.part;
  std::memcpy(block.data(), part.block.data(), part.block.size());
  for (const Patch& patch : x.launch.patches) put(block.data(), patch.at, kNone, call.*patch.from + patch.plus);
  if (x.map_a && maps) {
    x.map_a->get(device_, x.a_pieces.in(call), block.data() + x.a);
    x.map_b->get(device_, x.b_pieces.in(call), block.data() + x.b);
  } else if (!x.map_a) {
    put(block.data(), x.a, kNone, call.a);
    put(block.data(), x.b, kNone, call.b);
  }
  if (x.product && sum_) put(block.data(), x.c, kNone, call.workspace + partial_sums_offset_);
  if (x.product && !sum_) put_finish(block.data(), x.finish, call);
  queue(part, std::span(block.data(), part.block.size()));
}

template <class Queue>
void Prepared::each(const Call& call, bool maps, const Queue& queue) const {
  alignas(64) std::array<std::byte, kMaxBlock> block;
  const auto next = [&](const Part& part) { queue(part, std::span(block.data(), part.block.size())); };
  const auto patched = [&](const After& x) {
    std::memcpy(block.data(), x.part.block.data(), x.part.block.size());
    for (const Patch& patch : x.patches) put(block.data(), patch.at, kNone, call.*patch.from + patch.plus);
    next(x.part);
  };
  if (pieces_) {
    for (const Step& x : pieces_->before) step(x, call, maps, queue);
  }
  std::memcpy(block.data(), main_.block.data(), main_.block.size());
  const std::uint64_t a = pieces_ ? pieces_->a.in(call) : swapped_ ? call.b : call.a;
  const std::uint64_t b = pieces_ ? pieces_->b.in(call) : swapped_ ? call.a : call.b;
  if (pieces_) {
    for (const Patch& patch : pieces_->own) put(block.data(), patch.at, kNone, call.*patch.from + patch.plus);
  }
  if (map_a_ != nullptr) {
    if (maps) {
      put(block.data(), first_a_, kNone, map_a_->get(device_, a, block.data() + a_));
      put(block.data(), first_b_, kNone, map_b_->get(device_, b, block.data() + b_));
    }
  } else {
    put(block.data(), a_, kNone, a);
    put(block.data(), b_, kNone, b);
  }
  if (map_c_ != nullptr && maps) map_c_->get(device_, of_c_.in(call), block.data() + c_);
  if (sum_) {
    put(block.data(), partial_sums_, kNone, call.workspace + partial_sums_offset_);
  } else {
    put_finish(block.data(), finish_, call);
  }
  next(main_);
  if (pieces_) {
    for (const Step& x : pieces_->behind) step(x, call, maps, queue);
  }
  if (sum_) {
    std::memcpy(block.data(), sum_->block.data(), sum_->block.size());
    put(block.data(), sums_, kNone, call.workspace + partial_sums_offset_);
    put_finish(block.data(), finish_, call);
    next(*sum_);
  }
  for (const After& x : after_) patched(x);
}

void Prepared::launch(const Call& call, StreamId stream) const {
  auto next = checked_.begin();
  each(call, true, [&](const Part&, std::span<const std::byte> block) { device_.launch(*next++, block, stream); });
}

}  // namespace nervanagpu::sgemm

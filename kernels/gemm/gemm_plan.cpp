// A product chosen and packed once (nervanagpu/gemm_plan.hpp): later calls check addresses and launch.
#include "nervanagpu/gemm_plan.hpp"

#include "kernels/gemm/epilogue/result_sums.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/prepared.h"
#include "kernels/gemm/tensors/pieces.h"
#include "nervanagpu/error.hpp"
#include "src/device/placement.h"
#include "src/memory/workspace.h"
#include "src/tensor/tensor_form.h"

namespace nervanagpu {
namespace {

constexpr const char* kPlan = "gemm plan";

void check_address(const char* name, std::uint64_t got, std::uint64_t planned) {
  if (planned == 0) return;  // nothing there is looked at
  check_planned_address(kPlan, name, got, planned);
}

// Of pieces in an operand's place.
void check_count(const char* name, int got, int planned) {
  if (got == planned) return;
  const auto words = [](int count) { return count == 0 ? "a tensor" : std::to_string(count) + " pieces"; };
  throw InvalidArgument(std::string("gemm plan: ") + name + " is " + words(got) + "; needs " + words(planned) +
                        ", as planned");
}

}  // namespace

struct GemmPlan::Impl {
  static std::shared_ptr<const Impl> of_operands(const Tensor& a, const Tensor& b, const Tensor& c,
                                                 const GemmOptions& options, const sgemm::Kept& kept);
  void launch_operands(const Tensor& a, const Tensor& b, Tensor& c, const Tensor* bias, const Stream& stream,
                       const sgemm::Kept& kept) const;
  Impl(const GemmProblem& problem, const std::string& tile);

  void check(const GemmAddresses& at) const;
  void launch(const GemmAddresses& at, StreamId stream) const {
    prepared->launch({at.a, at.b, at.c, at.bias, at.workspace, alpha, beta, seed, offset + at.rounding_offset, at.scale,
                      at.mask, at.row_sum, at.column_sum, at.row_max_abs, at.column_max_abs, at.a_pieces, at.b_pieces},
                     stream);
  }

  GemmProblem form;  // of normal_form()
  float alpha, beta;
  std::uint64_t seed, offset;
  std::shared_ptr<const sgemm::Prepared> prepared;  // null: there is nothing to compute
  std::string name;
  // Of a plan of tensors.
  int device = get_device();
  bool of_tensors = false, swapped = false;
  std::vector<TensorForm> tensors;  // a, b, c and, if there is one, bias
  int a_count = 0, b_count = 0;     // of pieces in an operand's place
  Tensor scale, mask, row_sum, column_sum, row_max_abs, column_max_abs;
};

GemmPlan::Impl::Impl(const GemmProblem& problem, const std::string& tile)
    : alpha(problem.alpha), beta(problem.beta), seed(problem.rounding.seed), offset(problem.rounding.offset) {
  GemmProblem p = problem;
  p.workspace = 0;
  const auto given = [](std::uint64_t address) { return address == 0 ? 16 : address; };
  p.a = given(p.a), p.b = given(p.b), p.c = given(p.c);
  sgemm::check(p);
  Device& device = current_device();
  p = sgemm::reduced(device.registry(), p);
  form = sgemm::normal_form(p);
  if (p.m == 0 || p.n == 0 || p.batch == 0) {
    if (sgemm::has_sums(p)) throw InvalidArgument("gemm plan: the result has no elements; needs some, to sum them up");
    return;
  }
  if (sgemm::workspace_of(device, form, tile) != 0) form.workspace = 16;
  prepared = sgemm::prepared(device, form, tile);
  name = prepared->kernel().name();
}

void GemmPlan::Impl::check(const GemmAddresses& at) const {
  constexpr std::uint64_t kEntry = 8;  // of a table
  const auto unit = [&](std::uint64_t planned) { return planned != 0 && form.pointers != 0 ? kEntry : planned; };
  check_address("a", at.a, unit(form.a));
  check_address("b", at.b, unit(form.b));
  check_address("c", at.c, unit(form.c));
  check_address("bias", at.bias, form.bias);
  check_address("scale", at.scale, form.scale);
  check_address("mask", at.mask, form.mask);
  check_address("row_sum", at.row_sum, form.row_sum);
  check_address("column_sum", at.column_sum, form.column_sum);
  check_address("row_max_abs", at.row_max_abs, form.row_max_abs);
  check_address("column_max_abs", at.column_max_abs, form.column_max_abs);
  check_address("a_pieces", at.a_pieces, form.a_pieces.address);
  check_address("b_pieces", at.b_pieces, form.b_pieces.address);
  if (form.bias == 0 && at.bias != 0) {
    throw InvalidArgument("gemm plan: bias is " + std::to_string(at.bias) + "; needs 0, none was planned");
  }
  if (prepared->workspace() != 0 && (at.workspace == 0 || at.workspace % 16 != 0)) {
    throw InvalidArgument("gemm plan: address of workspace is " + std::to_string(at.workspace) + "; needs " +
                          std::to_string(prepared->workspace()) + " bytes at a multiple of 16");
  }
}

GemmPlan::GemmPlan(const GemmProblem& problem, const std::string& tile)
    : impl_(std::make_shared<const Impl>(problem, tile)) {}

std::shared_ptr<const GemmPlan::Impl> GemmPlan::Impl::of_operands(const Tensor& a, const Tensor& b, const Tensor& c,
                                                                  const GemmOptions& options, const sgemm::Kept& kept) {
  const Placed here = sgemm::placed(kPlan, a, b, c, options);
  const bool matrices = a.ndim() == 2 && b.ndim() == 2 && c.ndim() == 2;
  const sgemm::Described d =
      matrices ? sgemm::describe(a, b, c, options, kept) : sgemm::describe_batch(a, b, c, options);
  auto impl = std::make_shared<Impl>(d.problem, options.tile);
  impl->of_tensors = true;
  impl->swapped = d.swapped;
  impl->a_count = kept.a.count, impl->b_count = kept.b.count;
  impl->tensors = {TensorForm(a), TensorForm(b), TensorForm(c)};
  if (options.bias != nullptr) impl->tensors.emplace_back(*options.bias);
  if (options.scale != nullptr) impl->scale = *options.scale;
  const auto keep = [](Tensor& to, const Tensor* t) {
    if (t != nullptr) to = *t;
  };
  keep(impl->mask, options.mask);
  keep(impl->row_sum, options.row_sum), keep(impl->column_sum, options.column_sum);
  keep(impl->row_max_abs, options.row_max_abs), keep(impl->column_max_abs, options.column_max_abs);
  return impl;
}

GemmPlan::GemmPlan(const Tensor& a, const Tensor& b, const Tensor& c, const GemmOptions& options)
    : impl_(Impl::of_operands(a, b, c, options, {})) {}
GemmPlan::GemmPlan(const Tensor& a, const Pieces& b, const Tensor& c, const GemmOptions& options)
    : impl_(Impl::of_operands(a, PiecesAccess::matrix(b), c, options, {{}, PiecesAccess::at(b)})) {}
GemmPlan::GemmPlan(const Pieces& a, const Tensor& b, const Tensor& c, const GemmOptions& options)
    : impl_(Impl::of_operands(PiecesAccess::matrix(a), b, c, options, {PiecesAccess::at(a), {}})) {}

std::size_t GemmPlan::workspace() const {
  return impl_->prepared == nullptr ? 0 : impl_->prepared->workspace();
}
const std::string& GemmPlan::kernel() const {
  return impl_->name;
}
int GemmPlan::pieces() const {
  return impl_->prepared == nullptr ? 0 : impl_->prepared->pieces();
}
const GemmProblem& GemmPlan::problem() const {
  return impl_->form;
}

void GemmPlan::launch(const GemmAddresses& addresses, const Stream& stream) const {
  if (impl_->prepared == nullptr) return;
  const Placed placed(kPlan, {{"the plan", impl_->device}, {"stream", stream}});
  impl_->check(addresses);
  impl_->launch(addresses, stream.handle());
}

void GemmPlan::launch(const Tensor& a, const Tensor& b, Tensor& c, const Tensor* bias, const Stream& stream) const {
  impl_->launch_operands(a, b, c, bias, stream, {});
}
void GemmPlan::launch(const Tensor& a, const Pieces& b, Tensor& c, const Tensor* bias, const Stream& stream) const {
  impl_->launch_operands(a, PiecesAccess::matrix(b), c, bias, stream, {{}, PiecesAccess::at(b)});
  PiecesAccess::used_on(b, stream);
}
void GemmPlan::launch(const Pieces& a, const Tensor& b, Tensor& c, const Tensor* bias, const Stream& stream) const {
  impl_->launch_operands(PiecesAccess::matrix(a), b, c, bias, stream, {PiecesAccess::at(a), {}});
  PiecesAccess::used_on(a, stream);
}

void GemmPlan::Impl::launch_operands(const Tensor& a, const Tensor& b, Tensor& c, const Tensor* bias,
                                     const Stream& stream, const sgemm::Kept& kept) const {
  const Impl& p = *this;
  if (!p.of_tensors) throw InvalidArgument("gemm plan: was made of addresses; needs a launch with addresses");
  const Placed placed(kPlan,
                      {{"the plan", p.device}, {"a", a}, {"b", b}, {"c", c}, {"bias", bias}, {"stream", stream}});
  check_like(kPlan, "a", a, p.tensors[0]);
  check_like(kPlan, "b", b, p.tensors[1]);
  check_like(kPlan, "c", c, p.tensors[2]);
  check_count("a", kept.a.count, a_count);
  check_count("b", kept.b.count, b_count);
  const bool biased = p.tensors.size() > 3;
  if (biased != (bias != nullptr)) {
    throw InvalidArgument(biased ? "gemm plan: bias is missing; one was planned" : "gemm plan: bias was not planned");
  }
  if (biased) check_like(kPlan, "bias", *bias, p.tensors[3]);
  sgemm::check_apart(a, b, c, bias);
  if (p.prepared == nullptr) return;
  const Workspace workspace(p.prepared->workspace(), stream);
  const GemmAddresses at = {p.swapped ? b.address() : a.address(),
                            p.swapped ? a.address() : b.address(),
                            c.address(),
                            biased ? bias->address() : 0,
                            workspace.address(),
                            0,
                            p.scale.address(),
                            p.mask.address(),
                            p.row_sum.address(),
                            p.column_sum.address(),
                            p.row_max_abs.address(),
                            p.column_max_abs.address(),
                            p.swapped ? kept.b.address : kept.a.address,
                            p.swapped ? kept.a.address : kept.b.address};
  p.check(at);
  p.launch(at, stream.handle());
  if (stream.handle() == 0) return;
  for (const Tensor* t : {&a, &b, static_cast<const Tensor*>(&c), bias, &p.mask, &p.row_sum, &p.column_sum,
                          &p.row_max_abs, &p.column_max_abs}) {
    if (t != nullptr) t->used_on(stream);
  }
}

}  // namespace nervanagpu

// Poolings by cuDNN, the peer of ours.
#include "test/gpu/cudnn.h"
#include "test/gpu/cudnn_describe.h"

namespace nervanagpu::gpu_test {

using cudnn::Descriptor;
using cudnn::Descriptors;
using cudnn::joined;
using cudnn::pointer;
using cudnn::spatial;
using cudnn::Status;
using cudnn::type_of;

bool Cudnn::pool_fprop(const PoolProblem& p, Dtype type, std::uint64_t x, std::uint64_t y) {
  const bool deep = p.in[1] != 1 || p.window[1] != 1;
  Descriptors d(calls_);
  const Descriptor xd = d.tensor(type_of(type), joined(p.n, p.in[0], spatial(p.in, deep)));
  const Descriptor yd = d.tensor(type_of(type), joined(p.n, p.out()[0], spatial(p.out(), deep)));
  const Descriptor pd = d.pool(p, deep);
  if (!d.ok()) return false;
  const float one = 1.0F;
  const float zero = 0.0F;
  const Status s = calls_.pool_fprop(handle_, pd, &one, xd, pointer(x), &zero, yd, pointer(y));
  return s == cudnn::kSuccess;
}

bool Cudnn::pool_bprop(const PoolProblem& p, Dtype type, std::uint64_t y, std::uint64_t dy, std::uint64_t x,
                       std::uint64_t dx) {
  const bool deep = p.in[1] != 1 || p.window[1] != 1;
  Descriptors d(calls_);
  const Descriptor xd = d.tensor(type_of(type), joined(p.n, p.in[0], spatial(p.in, deep)));
  const Descriptor yd = d.tensor(type_of(type), joined(p.n, p.out()[0], spatial(p.out(), deep)));
  const Descriptor pd = d.pool(p, deep);
  if (!d.ok()) return false;
  const float one = 1.0F;
  const float zero = 0.0F;
  const Status s =
      calls_.pool_bprop(handle_, pd, &one, yd, pointer(y), yd, pointer(dy), xd, pointer(x), &zero, xd, pointer(dx));
  return s == cudnn::kSuccess;
}

}  // namespace nervanagpu::gpu_test

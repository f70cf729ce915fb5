#include "test/gpu/cudnn.h"

#include <dlfcn.h>

#include <cstdlib>

#include "nervanagpu/device.hpp"
#include "nervanagpu/tensor.hpp"
#include "test/gpu/bound.h"
#include "test/gpu/cudnn_describe.h"
#include "test/gpu/peer_library.h"

namespace nervanagpu::gpu_test {

using cudnn::Calls;
using cudnn::Descriptor;
using cudnn::Descriptors;
using cudnn::joined;
using cudnn::pointer;
using cudnn::spatial;
using cudnn::Status;
using cudnn::type_of;

std::unique_ptr<Cudnn> Cudnn::open(std::string& why) {
  const auto folders = library_folders(std::getenv("NG_CUDA_LIBS"));
  preload(folders);
  const PeerLibrary library = open_library({"libcudnn.so.9"}, folders);
  if (library.handle == nullptr) {
    why = library.why;
    return nullptr;
  }
  Calls calls;
  const auto find = [&](auto& member, const char* symbol) {
    member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(dlsym(library.handle, symbol));
    if (member == nullptr) why = library.path + " has no " + symbol;
  };
#define NG_CUDNN_FIND(member, symbol, parameters) find(calls.member, symbol);
  NG_CUDNN_CALLS(NG_CUDNN_FIND)
#undef NG_CUDNN_FIND
  find(calls.version, "cudnnGetVersion");
  find(calls.error_text, "cudnnGetErrorString");
  if (!why.empty()) return nullptr;
  std::unique_ptr<Cudnn> out(new Cudnn(calls));
  out->version_ = static_cast<std::int64_t>(calls.version());
  const Status status = calls.create(&out->handle_);
  if (status == cudnn::kSuccess) return out;
  why = library.path + ": no handle: " + calls.error_text(status);
  return nullptr;
}

Cudnn::~Cudnn() {
  if (handle_ != nullptr) static_cast<void>(calls_.destroy(handle_));
}

std::optional<double> Cudnn::conv(ConvPass pass, const ConvProblem& p, Dtype type, std::uint64_t in1, std::uint64_t in2,
                                  std::uint64_t out) {
  const bool deep = p.in[0] != 1 || p.filter[0] != 1 || p.out()[0] != 1;
  Descriptors d(calls_);
  const Descriptor xd = d.tensor(type_of(type), joined(p.n, p.c, spatial(p.in, deep)));
  const Descriptor wd = d.filter(type_of(type), joined(p.k, p.c / p.groups, spatial(p.filter, deep)));
  const Descriptor yd = d.tensor(type_of(type), joined(p.n, p.k, spatial(p.out(), deep)));
  const Descriptor cd = d.conv(p, deep);
  if (!d.ok()) return std::nullopt;

  const float one = 1.0F;
  const float zero = 0.0F;
  // One algorithm of the pass: algorithms 0 and 1 of each are plain sums of products (no FFT, no Winograd).
  const auto run = [&](int algorithm) {
    std::size_t bytes = 0;
    Status s = cudnn::kSuccess;
    switch (pass) {
      case ConvPass::fprop: s = calls_.fprop_workspace(handle_, xd, wd, cd, yd, algorithm, &bytes); break;
      case ConvPass::bprop: s = calls_.bprop_workspace(handle_, wd, yd, cd, xd, algorithm, &bytes); break;
      case ConvPass::update: s = calls_.update_workspace(handle_, xd, yd, cd, wd, algorithm, &bytes); break;
    }
    if (s != cudnn::kSuccess) return s;
    Tensor workspace;
    if (bytes > 0) workspace = Tensor::empty({static_cast<std::int64_t>(bytes)}, Dtype::uint8);
    void* room = pointer(workspace.address());
    switch (pass) {
      case ConvPass::fprop:
        s = calls_.fprop(handle_, &one, xd, pointer(in1), wd, pointer(in2), cd, algorithm, room, bytes, &zero, yd,
                         pointer(out));
        break;
      case ConvPass::bprop:
        s = calls_.bprop(handle_, &one, wd, pointer(in2), yd, pointer(in1), cd, algorithm, room, bytes, &zero, xd,
                         pointer(out));
        break;
      case ConvPass::update:
        s = calls_.update(handle_, &one, xd, pointer(in2), yd, pointer(in1), cd, algorithm, room, bytes, &zero, wd,
                          pointer(out));
        break;
    }
    synchronize();  // before the workspace goes
    return s;
  };
  struct Try {
    int math, algorithm;
    double unit;
  };
  constexpr Try kTries[] = {{cudnn::kFmaMath, 1, kUnitFloat},
                            {cudnn::kFmaMath, 0, kUnitFloat},
                            {cudnn::kDefaultMath, 1, kUnitTensor},
                            {cudnn::kDefaultMath, 0, kUnitTensor}};
  // A status other than success is not told apart: odd shapes meet several of them. What breaks the context shows in
  // the next call of ours.
  for (const Try& t : kTries) {
    Status s = calls_.set_math(cd, t.math);
    if (s == cudnn::kSuccess) s = run(t.algorithm);
    if (s == cudnn::kSuccess) return t.unit;
  }
  return std::nullopt;
}

}  // namespace nervanagpu::gpu_test

#include "test/gpu/cudnn.h"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

#include "nervanagpu/device.hpp"
#include "nervanagpu/tensor.hpp"
#include "test/gpu/bound.h"
#include "test/gpu/peer_library.h"

namespace nervanagpu::gpu_test {
namespace {

using cudnn::Calls;
using cudnn::Descriptor;
using cudnn::Status;
using Ints = std::vector<int>;

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// cuDNN has two spatial axes or three.
template <std::size_t N>
Ints spatial(const std::array<std::int64_t, N>& v, bool deep) {
  Ints out;
  for (std::size_t i = deep ? N - 3 : N - 2; i < N; ++i) out.push_back(static_cast<int>(v[i]));
  return out;
}

Ints joined(std::int64_t first, std::int64_t second, const Ints& rest) {
  Ints out = {static_cast<int>(first), static_cast<int>(second)};
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

int type_of(Dtype type) {
  return type == Dtype::float16 ? cudnn::kHalf : cudnn::kFloat;
}

// The descriptors of one call, destroyed with it. The first failure is kept: what follows is not done.
class Descriptors {
 public:
  explicit Descriptors(const Calls& calls) : calls_(calls) {}
  ~Descriptors() {
    for (auto it = made_.rbegin(); it != made_.rend(); ++it) static_cast<void>(it->destroy(it->d));
  }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  Descriptor tensor(int type, const Ints& lengths) {
    Ints strides(lengths.size(), 1);
    for (std::size_t i = lengths.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * lengths[i];
    const Descriptor d = make(calls_.create_tensor, calls_.destroy_tensor);
    if (ok()) note(calls_.set_tensor(d, type, static_cast<int>(lengths.size()), lengths.data(), strides.data()));
    return d;
  }
  Descriptor filter(int type, const Ints& lengths) {
    const Descriptor d = make(calls_.create_filter, calls_.destroy_filter);
    if (ok()) {
      note(calls_.set_filter(d, type, cudnn::kChannelsFirst, static_cast<int>(lengths.size()), lengths.data()));
    }
    return d;
  }
  Descriptor conv(const ConvProblem& p, bool deep) {
    const Descriptor d = make(calls_.create_conv, calls_.destroy_conv);
    const Ints pad = spatial(p.pad, deep);
    if (ok()) {
      note(calls_.set_conv(d, static_cast<int>(pad.size()), pad.data(), spatial(p.stride, deep).data(),
                           spatial(p.dilation, deep).data(), cudnn::kCrossCorrelation, cudnn::kFloat));
    }
    if (ok()) note(calls_.set_groups(d, static_cast<int>(p.groups)));
    return d;
  }
  Descriptor pool(const PoolProblem& p, bool deep) {
    const Descriptor d = make(calls_.create_pool, calls_.destroy_pool);
    const int mode = p.op == PoolOp::max
                         ? cudnn::kMaxDeterministic
                         : (p.count_padding ? cudnn::kAverageWithPadding : cudnn::kAverageWithoutPadding);
    const Ints window = spatial(p.window, deep);
    if (ok()) {
      note(calls_.set_pool(d, mode, cudnn::kPropagateNan, static_cast<int>(window.size()), window.data(),
                           spatial(p.pad, deep).data(), spatial(p.stride, deep).data()));
    }
    return d;
  }
  [[nodiscard]] bool ok() const { return status_ == cudnn::kSuccess; }

 private:
  struct Made {
    Descriptor d;
    Status (*destroy)(Descriptor);
  };
  Descriptor make(Status (*create)(Descriptor*), Status (*destroy)(Descriptor)) {
    Descriptor d = nullptr;
    if (!ok()) return d;
    note(create(&d));
    if (ok()) made_.push_back({d, destroy});
    return d;
  }
  void note(Status status) {
    if (ok()) status_ = status;
  }

  const Calls& calls_;
  std::vector<Made> made_;
  Status status_ = cudnn::kSuccess;
};

}  // namespace

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

// What calls of cuDNN are described with: lengths as it takes them, and descriptors that go with the call.
#pragma once

#include <cstdint>
#include <vector>

#include "test/gpu/cudnn.h"

namespace nervanagpu::gpu_test::cudnn {

using Ints = std::vector<int>;

inline void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// cuDNN has two spatial axes or three.
template <std::size_t N>
Ints spatial(const std::array<std::int64_t, N>& v, bool deep) {
  Ints out;
  for (std::size_t i = deep ? N - 3 : N - 2; i < N; ++i) out.push_back(static_cast<int>(v[i]));
  return out;
}

inline Ints joined(std::int64_t first, std::int64_t second, const Ints& rest) {
  Ints out = {static_cast<int>(first), static_cast<int>(second)};
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

inline int type_of(Dtype type) {
  return type == Dtype::float16 ? kHalf : kFloat;
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
      note(calls_.set_filter(d, type, kChannelsFirst, static_cast<int>(lengths.size()), lengths.data()));
    }
    return d;
  }
  Descriptor conv(const ConvProblem& p, bool deep) {
    const Descriptor d = make(calls_.create_conv, calls_.destroy_conv);
    const Ints pad = spatial(p.pad, deep);
    if (ok()) {
      note(calls_.set_conv(d, static_cast<int>(pad.size()), pad.data(), spatial(p.stride, deep).data(),
                           spatial(p.dilation, deep).data(), kCrossCorrelation, kFloat));
    }
    if (ok()) note(calls_.set_groups(d, static_cast<int>(p.groups)));
    return d;
  }
  Descriptor pool(const PoolProblem& p, bool deep) {
    const Descriptor d = make(calls_.create_pool, calls_.destroy_pool);
    const int mode =
        p.op == PoolOp::max ? kMaxDeterministic : (p.count_padding ? kAverageWithPadding : kAverageWithoutPadding);
    const Ints window = spatial(p.window, deep);
    if (ok()) {
      note(calls_.set_pool(d, mode, kPropagateNan, static_cast<int>(window.size()), window.data(),
                           spatial(p.pad, deep).data(), spatial(p.stride, deep).data()));
    }
    return d;
  }
  [[nodiscard]] bool ok() const { return status_ == kSuccess; }

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
  Status status_ = kSuccess;
};

}  // namespace nervanagpu::gpu_test::cudnn

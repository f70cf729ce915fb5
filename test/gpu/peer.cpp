#include "test/gpu/peer.h"

#include "nervanagpu/device.hpp"

namespace nervanagpu::gpu_test {
namespace {

// Makes the device's context current on this thread, where the peers' handles then live.
bool has_gpu(std::string& why) {
  const DeviceInfo& d = device();
  report().set_device(d.name);
  if (d.kind != DeviceKind::cuda) {
    why = "the device is the emulator: there is no GPU here";
    return false;
  }
  static const Tensor kept = Tensor::zeros({1});
  return true;
}

template <class Peer>
Peer* only(const char* name, std::string& why) {
  static std::string reason;
  static const std::unique_ptr<Peer> peer = [&]() -> std::unique_ptr<Peer> {
    if (!has_gpu(reason)) return nullptr;
    std::unique_ptr<Peer> p = Peer::open(reason);
    if (p != nullptr) report().set_peer(name, static_cast<std::int64_t>(p->version()));
    return p;
  }();
  why = reason;
  return peer.get();
}

void judge(Key key, const std::string& against, const std::string& problem, const Values& got, const Values& want,
           const Values& bound) {
  key.against = against;
  const Distance d = distance(got, want, bound);
  report().add(key, static_cast<std::int64_t>(got.size()), d.worst, d.out != 0);
  if (d.out != 0) {
    ADD_FAILURE() << problem << " against " << against << ": " << d.out << " of " << got.size()
                  << " elements are out of bound; " << d.first;
  }
}

}  // namespace

Cublas* cublas_peer(std::string& why) {
  return only<Cublas>("cublas", why);
}

Cudnn* cudnn_peer(std::string& why) {
  return only<Cudnn>("cudnn", why);
}

void compare(const Key& key, const std::string& problem, const Side& ours, const Side& theirs, const Values& value,
             const Values& size, std::int64_t terms) {
  const Values own = bounds(value, size, terms, ours.unit, ours.dtype);
  const Values peer = bounds(value, size, terms, theirs.unit, theirs.dtype);
  judge(key, "float64", problem, ours.got, value, own);
  judge(key, key.against, problem, ours.got, theirs.got, own + peer);
}

}  // namespace nervanagpu::gpu_test

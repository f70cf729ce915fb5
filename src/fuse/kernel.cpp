#include "src/fuse/kernel.h"

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>

#include "nervanagpu/error.hpp"
#include "nervanagpu/expr.hpp"
#include "sass/verify/verify.h"
#include "src/fuse/program.h"
#include "src/fuse/replay.h"
#include "src/fuse/values.h"
#include "src/select_device.h"

namespace nervanagpu {
namespace fuse {
namespace {

std::atomic<std::uint64_t> launch_counter{0};
std::atomic<bool> verifying{false};
thread_local Rehearsal* rehearsal = nullptr;
thread_local const Stream* stream_now = nullptr;

sass::CubinImage image_of(sass::Arch arch, sass::KernelImage kernel) {
  sass::CubinImage image;
  image.arch = arch;
  image.kernels.push_back(std::move(kernel));
  return image;
}

// Kernels of one device; kept for the process, as the device is.
using Kernels = std::unordered_map<std::string, std::unique_ptr<Generated>>;
struct Cache {
  std::mutex mutex;
  std::map<std::uint64_t, Kernels> kernels;  // by Device::serial()
};
Cache& cache() {
  static auto* c = new Cache;
  return *c;
}

}  // namespace

Generated::Generated(Device& device, sass::CubinImage image) : device_(device), image_(std::move(image)) {
  const auto bytes = sass::write_cubin(image_);
  if (!bytes.ok()) throw Error("fuse: " + bytes.error().text());
  module_ = device_.load(image_, *bytes);
}

void Generated::launch(std::uint32_t ctas, const Parameters& params) const {
  start(ctas, params.bytes());
  Replay::note(*this, ctas, &params);
}
void Generated::launch(std::uint32_t ctas, std::span<const std::byte> params) const {
  start(ctas, params);
  Replay::note(*this, ctas, nullptr);
}

void Generated::start(std::uint32_t ctas, std::span<const std::byte> params) const {
  if (Rehearsal* r = Rehearsal::current()) {
    r->note("kernel " + image().name + ": " + std::to_string(ctas) + " CTAs of " +
            std::to_string(image().manifest.threads) + " threads, " + std::to_string(image().registers) +
            " registers, " + std::to_string(image().code.size()) + " instructions");
    return;
  }
  ModuleLaunch what;
  what.grid.x = ctas;
  what.block.x = image().manifest.threads;
  what.params = params;
  device_.launch(*module_, what, OnStream::current().handle());
  ++launch_counter;
}

const Generated& generated(const std::string& key, const std::function<sass::Result<sass::KernelImage>()>& make) {
  Device& device = current_device();
  const std::lock_guard lock(cache().mutex);
  std::unique_ptr<Generated>& slot = cache().kernels[device.serial()][key];
  if (slot == nullptr) {
    auto kernel = make();
    if (!kernel.ok()) throw Error("fuse: " + kernel.error().text());
    if (verifying.load()) {
      const auto hazards = sass::verify(device.registry().arch(), *kernel);
      if (!hazards.empty()) throw Error("fuse: hazard in " + kernel->name + ": " + hazards[0].text);
    }
    slot = std::make_unique<Generated>(device, image_of(device.registry().arch(), std::move(*kernel)));
  }
  return *slot;
}

Parameters& Parameters::put(std::uint64_t v, std::size_t width) {
  bytes_.resize((bytes_.size() + width - 1) / width * width + width);
  std::memcpy(bytes_.data() + bytes_.size() - width, &v, width);
  return *this;
}
Parameters& Parameters::operands(const Program& p, std::span<const std::uint64_t> address) {
  program_ = &p;
  addresses_ = address;
  operands_at_ = (bytes_.size() + 7) / 8 * 8;
  for (const std::uint64_t a : address) u64(a);
  for (const Number& n : p.numbers) put(number_bits(n), 4 * registers_of(n.dtype));
  return *this;
}
void Parameters::replace(std::size_t at, std::uint64_t v, std::size_t width) {
  std::memcpy(bytes_.data() + at, &v, width);
}

OnStream::OnStream(const Stream& stream) noexcept : before_(stream_now) {
  stream_now = &stream;
}
OnStream::~OnStream() {
  stream_now = before_;
}
const Stream& OnStream::current() noexcept {
  static const auto& first = *new Stream;  // never destroyed: a thread may launch at exit
  return stream_now != nullptr ? *stream_now : first;
}

Tensor temporary(const Shape& shape, Dtype dtype) {
  Tensor t = Tensor::empty(shape, dtype);
  t.used_on(OnStream::current());
  return t;
}

std::uint64_t launches() noexcept {
  return launch_counter.load();
}

void count_launches(std::uint64_t more) noexcept {
  launch_counter += more;
}

Rehearsal::Rehearsal() : before_(rehearsal) {
  rehearsal = this;
}
Rehearsal::~Rehearsal() {
  rehearsal = before_;
}
Rehearsal* Rehearsal::current() noexcept {
  return rehearsal;
}

}  // namespace fuse

std::uint64_t launch_count() noexcept {
  return fuse::launches();
}
bool can_evaluate() {
  return sass::Builder::builds_for(current_device().registry().arch());
}
void verify_generated(bool on) noexcept {
  fuse::verifying = on;
}

}  // namespace nervanagpu

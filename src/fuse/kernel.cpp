#include "src/fuse/kernel.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "nervanagpu/error.hpp"
#include "nervanagpu/expr.hpp"
#include "sass/verify/verify.h"
#include "src/device/select_device.h"
#include "src/fuse/kernels/values.h"
#include "src/fuse/program.h"
#include "src/fuse/replay.h"

namespace nervanagpu {
namespace fuse {
namespace {

std::atomic<std::uint64_t> launch_counter{0};
std::atomic<bool> verifying{false};
thread_local DryRun* dry_run = nullptr;
thread_local const Stream* stream_now = nullptr;

struct Cache {
  std::mutex making;  // held while a kernel is made: who waits for it finds it then
  Kept<Generated> kernels;
};
Cache& cache() {
  static auto* c = new Cache;
  return *c;
}

}  // namespace

Generated::Generated(Device& device, sass::KernelImage kernel)
    : device_(device),
      name_(kernel.name),
      threads_(kernel.manifest.threads),
      registers_(kernel.registers),
      instructions_(kernel.code.size()) {
  sass::CubinImage image;
  image.arch = device.registry().arch();
  image.kernels.push_back(std::move(kernel));
  const auto bytes = sass::write_cubin(image);
  if (!bytes.ok()) throw Error("fuse: " + bytes.error().text());
  module_ = device_.load_temporary(image, *bytes);
}

std::size_t Generated::bytes() const {
  return sizeof *this + name_.capacity() + module_->bytes();
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
  if (DryRun* r = DryRun::current()) {
    r->note("kernel " + name_ + ": " + std::to_string(ctas) + " CTAs of " + std::to_string(threads_) + " threads, " +
            std::to_string(registers_) + " registers, " + std::to_string(instructions_) + " instructions");
    return;
  }
  ModuleLaunch what;
  what.grid.x = ctas;
  what.block.x = threads_;
  what.params = params;
  device_.launch(*module_, what, OnStream::current().handle());
  ++launch_counter;
}

GeneratedPtr generated(const std::string& key, const std::function<sass::Result<sass::KernelImage>()>& make) {
  Device& device = current_device();
  const std::uint64_t serial = device.serial();
  std::string whole(sizeof serial, '\0');
  std::memcpy(whole.data(), &serial, sizeof serial);
  whole += key;
  if (auto known = cache().kernels.find(whole)) return known;
  const std::lock_guard lock(cache().making);
  if (auto known = cache().kernels.find(whole)) return known;
  auto kernel = make();
  if (!kernel.ok()) throw Error("fuse: " + kernel.error().text());
  if (verifying.load()) {
    const auto hazards = sass::verify(device.registry().arch(), *kernel);
    if (!hazards.empty()) throw Error("fuse: hazard in " + kernel->name + ": " + hazards[0].text);
  }
  const auto made = std::make_shared<const Generated>(device, std::move(*kernel));
  return cache().kernels.keep(whole, made, made->bytes());
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
  alignas(Stream) static std::array<std::byte, sizeof(Stream)> memory;
  static const Stream& first = *new (memory.data()) Stream;  // never destroyed: a thread may launch at exit
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

DryRun::DryRun() : before_(dry_run) {
  dry_run = this;
}
DryRun::~DryRun() {
  dry_run = before_;
}
DryRun* DryRun::current() noexcept {
  return dry_run;
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

#include "src/module/registry.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>

#include "nervanagpu/error.hpp"
#include "src/module/unpack.h"

namespace nervanagpu {
namespace {

// "sgemm.sm_90a" -> sm_90a
std::optional<sass::Arch> arch_of(const EmbeddedCubin& cubin) {
  const std::string_view name = cubin.name;
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::nullopt : sass::arch_from_name(name.substr(dot + 1));
}

sass::CubinImage image_of(const EmbeddedCubin& cubin, Unpacker& unpack) {
  const std::span<const unsigned char> bytes = unpack(cubin);
  sass::Result<sass::CubinImage> image = sass::read_cubin(bytes.data(), bytes.size());
  if (!image.ok()) throw Error("embedded cubin " + std::string(cubin.name) + ": " + image.error().text());
  return std::move(*image);
}

// In the order of `cubins`. This is most of what opening a device costs the host: a few threads take the largest first.
std::vector<sass::CubinImage> images_of(std::span<const EmbeddedCubin> cubins) {
  std::vector<std::size_t> order(cubins.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return image_size(cubins[i]); });

  std::vector<sass::CubinImage> images(cubins.size());
  std::vector<std::exception_ptr> failures(cubins.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    Unpacker unpack;
    for (std::size_t at = next++; at < order.size(); at = next++) {
      try {
        images[order[at]] = image_of(cubins[order[at]], unpack);
      } catch (...) {
        failures[order[at]] = std::current_exception();
      }
    }
  };
  {
    constexpr std::size_t kMost = 8;
    const std::size_t threads = std::min({std::size_t{std::thread::hardware_concurrency()}, cubins.size(), kMost});
    std::vector<std::jthread> others;
    try {
      for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
    } catch (const std::exception&) {
      // The system gives no thread: those there are do it all.
    }
    work();
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure != nullptr) std::rethrow_exception(failure);
  }
  return images;
}

}  // namespace

std::uint32_t Kernel::dynamic_shared() const {
  return manifest().shared > image->shared ? manifest().shared - image->shared : 0;
}

int Kernel::number(const std::string& definition) const {
  const auto it = manifest().variant.find(definition);
  if (it == manifest().variant.end()) return 0;
  int n = 0;
  for (const char c : it->second) {
    if (c < '0' || c > '9' || n > 100'000'000) return 0;
    n = n * 10 + (c - '0');
  }
  return n;
}

const sass::Condition* Kernel::unmet(std::span<const std::int64_t> params) const {
  for (const sass::Condition& c : needs) {
    if (!c.may_hold(params)) return &c;
  }
  return nullptr;
}

Registry::Registry(std::span<const EmbeddedCubin> cubins, sass::Arch arch) : arch_(arch) {
  for (const EmbeddedCubin& cubin : cubins) {
    if (arch_of(cubin) == arch) cubins_.push_back(cubin);
  }
  images_ = images_of(cubins_);
  for (std::size_t i = 0; i < images_.size(); ++i) {
    for (const sass::KernelImage& image : images_[i].kernels) {
      auto needs = sass::compile_needs(image.manifest);
      if (!needs.ok()) throw Error(needs.error().text());
      kernels_.push_back({&image, i, kernels_.size(), std::move(*needs)});
    }
  }
  for (const Kernel& k : kernels_) {
    if (!by_name_.emplace(k.name(), &k).second) throw Error("two embedded kernels are named " + k.name());
    by_op_[k.manifest().op].push_back(&k);
  }
}

const Kernel* Registry::find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

std::span<const Kernel* const> Registry::of_op(std::string_view op) const {
  const auto it = by_op_.find(op);
  if (it == by_op_.end()) return {};
  return it->second;
}

std::shared_ptr<const Registry> registry_of(std::span<const EmbeddedCubin> cubins, sass::Arch arch) {
  const std::span<const EmbeddedCubin> own = embedded_cubins();
  if (cubins.data() != own.data() || cubins.size() != own.size()) return std::make_shared<Registry>(cubins, arch);
  static std::mutex& mutex = *new std::mutex;  // neither is destroyed
  static auto& read = *new std::map<sass::Arch, std::shared_ptr<const Registry>>;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const Registry>& slot = read[arch];
  if (slot == nullptr) slot = std::make_shared<Registry>(cubins, arch);
  return slot;
}

std::vector<sass::Arch> archs_of(std::span<const EmbeddedCubin> cubins) {
  std::vector<sass::Arch> out;
  for (const EmbeddedCubin& cubin : cubins) {
    const std::optional<sass::Arch> arch = arch_of(cubin);
    if (arch && std::find(out.begin(), out.end(), *arch) == out.end()) out.push_back(*arch);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace nervanagpu

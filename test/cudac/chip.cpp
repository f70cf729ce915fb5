#include "test/cudac/chip.h"

#include <cstdlib>
#include <cstring>

#include "src/device/tensor_map.h"

namespace nervanagpu::test {
namespace {

namespace emulate = sass::emulate;

class Emulator final : public Chip {
 public:
  explicit Emulator(emulate::Mode mode) : mode_(mode) {
    const char* order = std::getenv("NERVANAGPU_EMULATOR_ORDER");
    if (order != nullptr) order_ = static_cast<std::uint32_t>(std::strtoul(order, nullptr, 10));
  }

  std::string load(const std::vector<std::uint8_t>& cubin) override {
    auto image = sass::read_cubin(cubin.data(), cubin.size());
    if (!image) return image.error().text();
    image_ = std::move(*image);
    auto module = emulate::Module::load(image_, memory_);
    if (!module) return module.error().text();
    module_ = std::move(*module);
    return {};
  }
  std::uint64_t allocate(std::size_t bytes) override { return memory_.allocate(bytes); }
  void upload(std::uint64_t to, const void* from, std::size_t bytes) override {
    if (bytes != 0) std::memcpy(memory_.host(to, bytes), from, bytes);
  }
  void download(void* to, std::uint64_t from, std::size_t bytes) override {
    if (bytes != 0) std::memcpy(to, memory_.host(from, bytes), bytes);
  }
  EncodedTensorMap encode(const TensorMap& map) override {
    const emulate::TensorMap form = emulated(map);
    EncodedTensorMap out;
    static_assert(sizeof form == sizeof out.bytes);
    std::memcpy(out.bytes.data(), &form, sizeof form);
    return out;
  }
  std::string launch(const Launch& l) override {
    for (const sass::KernelImage& k : image_.kernels) {
      if (k.name != l.kernel) continue;
      const auto kernel = module_->kernel(k);
      if (!kernel) return kernel.error().text();
      const auto report = emulate::run(**kernel, memory_,
                                       {.grid = {l.grid[0], l.grid[1], l.grid[2]},
                                        .block = {l.block[0], l.block[1], l.block[2]},
                                        .dynamic_shared = l.dynamic_shared,
                                        .params = l.params,
                                        .mode = mode_,
                                        .order = order_});
      if (!report) return report.error().text();
      std::string text;
      for (const emulate::Finding& f : report->findings) text += f.text() + "\n";
      return text;
    }
    return "there is no kernel " + l.kernel;
  }

 private:
  emulate::Mode mode_;
  std::uint32_t order_ = 0;
  sass::CubinImage image_;
  emulate::Memory memory_{std::size_t{256} << 20};
  std::unique_ptr<emulate::Module> module_;
};

}  // namespace

bool on_gpu() {
  const char* device = std::getenv("NERVANAGPU_DEVICE");
  return device != nullptr && std::string(device) == "cuda";
}

std::unique_ptr<Chip> make_emulator(sass::emulate::Mode mode) {
  return std::make_unique<Emulator>(mode);
}

}  // namespace nervanagpu::test

// The chip of the CUDA C programs that is a GPU: through the driver library.
#include <dlfcn.h>

#include "src/device/driver.h"
#include "test/cudac/chip.h"

namespace nervanagpu::test {
namespace {

class Gpu final : public Chip {
 public:
  static std::unique_ptr<Gpu> make() {
    auto gpu = std::make_unique<Gpu>();
    gpu->driver_ = cuda::load_driver().driver;
    return gpu->driver_ != nullptr && gpu->start().empty() ? std::move(gpu) : nullptr;
  }
  ~Gpu() override {
    for (const cuda::Address at : allocated_) driver_->memory_free(at);
  }
  std::string load(const std::vector<std::uint8_t>& cubin) override {
    return said(driver_->module_load(&module_, cubin.data()), "cuModuleLoadData");
  }
  std::uint64_t allocate(std::size_t bytes) override {
    cuda::Address at = 0;
    if (driver_->memory_allocate(&at, bytes) != cuda::kSuccess) return 0;
    allocated_.push_back(at);
    return at;
  }
  void upload(std::uint64_t to, const void* from, std::size_t bytes) override {
    failed_ += said(driver_->copy_to_device(to, from, bytes), "cuMemcpyHtoD");
  }
  void download(void* to, std::uint64_t from, std::size_t bytes) override {
    failed_ += said(driver_->copy_to_host(to, from, bytes), "cuMemcpyDtoH");
  }
  EncodedTensorMap encode(const TensorMap& map) override {
    EncodedTensorMap out;
    void* address = reinterpret_cast<void*>(map.address);  // NOLINT(performance-no-int-to-ptr)
    failed_ += said(driver_->encode_tiled(out.bytes.data(), static_cast<int>(map.type), map.rank, address,
                                          map.sizes.data(), map.strides.data(), map.box.data(), map.steps.data(),
                                          static_cast<int>(map.interleave), static_cast<int>(map.swizzle),
                                          static_cast<int>(map.promotion), static_cast<int>(map.fill)),
                    "cuTensorMapEncodeTiled");
    return out;
  }
  std::string launch(const Launch& l) override {
    cuda::Function function = nullptr;
    std::string what = said(driver_->module_function(&function, module_, l.kernel.c_str()), "cuModuleGetFunction");
    if (!what.empty()) return what;
    if (l.dynamic_shared > 0) {
      what = said(driver_->function_set(function, cuda::kMaxDynamicShared, static_cast<int>(l.dynamic_shared)),
                  "cuFuncSetAttribute");
    }
    std::size_t size = l.params.size();
    void* extra[] = {cuda::kLaunchBuffer, const_cast<std::byte*>(l.params.data()), cuda::kLaunchBufferSize, &size,
                     cuda::kLaunchEnd};
    what += said(driver_->launch(function, l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2],
                                 l.dynamic_shared, nullptr, nullptr, static_cast<void**>(extra)),
                 "cuLaunchKernel");
    what += said(driver_->context_synchronize(), "cuCtxSynchronize");
    return what + failed_;
  }

 private:
  std::string start() {
    cuda::DeviceId device = 0;
    cuda::Context context = nullptr;
    std::string what = said(driver_->init(0), "cuInit");
    if (what.empty()) what = said(driver_->device_get(&device, 0), "cuDeviceGet");
    if (what.empty()) what = said(driver_->context_retain(&context, device), "cuDevicePrimaryCtxRetain");
    if (what.empty()) what = said(driver_->context_set(context), "cuCtxSetCurrent");
    // As much stack for recursion as the emulator gives.
    using SetLimit = int (*)(int limit, std::size_t value);
    void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    const auto set_limit = library == nullptr ? nullptr : reinterpret_cast<SetLimit>(dlsym(library, "cuCtxSetLimit"));
    if (what.empty() && set_limit != nullptr) what = said(set_limit(0, std::size_t{16} << 10), "cuCtxSetLimit");
    return what;
  }
  [[nodiscard]] std::string said(cuda::Status status, const char* call) const {
    if (status == cuda::kSuccess) return {};
    const char* name = nullptr;
    if (driver_->error_name(status, &name) != cuda::kSuccess || name == nullptr) name = "an unknown error";
    return std::string(call) + ": " + name + "\n";
  }

  const cuda::Driver* driver_ = nullptr;
  cuda::Module module_ = nullptr;
  std::vector<cuda::Address> allocated_;
  std::string failed_;
};

}  // namespace

std::unique_ptr<Chip> make_gpu() {
  return Gpu::make();
}

}  // namespace nervanagpu::test

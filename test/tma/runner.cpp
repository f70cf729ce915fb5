#include "test/tma/runner.h"

#include <fstream>
#include <iterator>

#include "src/device/select_device.h"
#include "src/device/tensor_map.h"

namespace nervanagpu::test {
namespace {

constexpr std::size_t kOutBytes = kImageBytes + 16;

// The library's calls go to `device` as long as this lives.
class Using {
 public:
  explicit Using(Device& device) : before_(exchange_device(&device)) {}
  ~Using() { exchange_device(before_); }
  Using(const Using&) = delete;
  Using& operator=(const Using&) = delete;

 private:
  Device* before_;
};

}  // namespace

TmaRunner::TmaRunner(Device& device) : device_(device) {
  const Using using_this(device);
  std::ifstream file(NG_SOURCE_DIR "/test/data/tma/commands.cubin", std::ios::binary);
  const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  kernels_ = std::make_unique<Module>(Cubin::read({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}));
  tensor_ = device.allocate(kTensorBytes);
  image_ = device.allocate(kImageBytes);
  out_ = device.allocate(kOutBytes);
}

TmaRunner::~TmaRunner() {
  for (const std::uint64_t a : {tensor_, image_, out_}) device_.free(a, {});
}

std::vector<std::byte> TmaRunner::run(const TmaCase& c) {
  const Using using_this(device_);
  TensorMap map = c.map;
  map.address = tensor_;
  const std::uint32_t bytes = sass::emulate::box_bytes(emulated(map));
  const auto tensor = tma_bytes(c, kTensorBytes, 0);
  const auto image = tma_bytes(c, kImageBytes, 1);
  device_.upload(tensor_, tensor.data(), tensor.size());
  device_.upload(image_, image.data(), image.size());
  const std::string name = std::string(c.load ? "load_" : "store_") + (map.im2col ? "image_" : "");
  const std::uint32_t where = c.load ? c.offsets[0] | c.offsets[1] << 10 | c.offsets[2] << 20 : c.op;
  kernels_->launch(name + std::to_string(map.rank), {1}, {128},
                   {device_.encode_tensor_map(map), image_, out_, c.at[0], c.at[1], c.at[2], c.at[3], c.at[4], where,
                    c.shared, bytes});
  device_.synchronize();
  std::vector<std::byte> out(c.load ? kImageBytes : kTensorBytes);
  device_.download(out.data(), c.load ? out_ : tensor_, out.size());
  return out;
}

}  // namespace nervanagpu::test

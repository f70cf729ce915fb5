#include "test/mutants/replay.h"

#include <array>
#include <cstring>
#include <stdexcept>

#include "sass/asm/pipeline.h"

namespace nervanagpu::test {

bool equal(const std::vector<Buffer>& a, const std::vector<Buffer>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].bytes != b[i].bytes) return false;
  }
  return true;
}

Outcome emulate(EmulatorDevice& device, const Subject& subject, const sass::KernelImage& kernel,
                const std::vector<Buffer>& right) {
  Outcome out;
  const auto loaded = sass::emulate::load(sass::Arch::sm_90a, kernel);
  if (!loaded.ok()) return {false, true, loaded.error().message};
  for (const Buffer& b : subject.launch.before) device.upload(b.address, b.bytes.data(), b.bytes.size());
  sass::emulate::Launch launch;
  launch.grid = {subject.launch.grid.x, subject.launch.grid.y, subject.launch.grid.z};
  launch.block = {subject.launch.threads, 1, 1};
  launch.cluster = subject.launch.grid.cluster;
  launch.dynamic_shared = subject.launch.dynamic_shared;
  launch.params = subject.launch.params;
  launch.mode = sass::emulate::Mode::kChecked;
  const auto report = sass::emulate::run(**loaded, device.memory(), launch);
  if (!report.ok()) return {false, true, report.error().message};
  out.reported = !report->findings.empty();
  if (out.reported) out.text = report->findings[0].text();
  for (const Buffer& b : right) {
    std::vector<std::byte> now(b.bytes.size());
    device.download(now.data(), b.address, now.size());
    out.same = out.same && now == b.bytes;
  }
  return out;
}

Chip::Chip(Device& device, const std::string& noise_template)
    : device_(device), driver_(*cuda::load_driver().driver), noise_data_(device.allocate(16 << 20)) {
  const bool ok = check(driver_.stream_create(&stream_, 1), "cuStreamCreate") &&
                  check(driver_.stream_create(&noise_stream_, 1), "cuStreamCreate") &&
                  check(driver_.event_create(&noise_end_, 2), "cuEventCreate");
  sass::Result<sass::Template> source = sass::read_template(noise_template, {});
  if (!ok || !source.ok()) throw std::runtime_error(ok ? source.error().text() : failure_);
  sass::Result<sass::CubinImage> image = sass::assemble(*source, sass::Arch::sm_90a, {});
  if (!image.ok()) throw std::runtime_error(image.error().text());
  Subject noise;
  noise.launch.image = image->kernels[0];
  noise_ = load(noise, {noise.launch.image}).at(0);
}

bool Chip::check(cuda::Status status, const char* call) {
  if (status == cuda::kSuccess) return true;
  const char* name = nullptr;
  static_cast<void>(driver_.error_name(status, &name));
  failure_ = std::string(call) + ": " + (name != nullptr ? name : "?");
  return false;
}

std::vector<cuda::Function> Chip::load(const Subject& subject, std::vector<sass::KernelImage> kernels) {
  sass::CubinImage image;
  image.arch = sass::Arch::sm_90a;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    sass::KernelImage& k = kernels[i];
    k.name = "m" + std::to_string(i);
    k.lines = {};
    sass::Manifest bare;
    bare.cluster = k.manifest.cluster;  // the launch of a kernel that states it does not
    k.manifest = std::move(bare);
    image.kernels.push_back(std::move(k));
  }
  const auto bytes = sass::write_cubin(image);
  if (!bytes.ok()) throw std::runtime_error(bytes.error().text());
  cuda::Module module = nullptr;
  std::vector<cuda::Function> out;
  if (!check(driver_.module_load(&module, bytes->data()), "cuModuleLoadData")) throw std::runtime_error(failure_);
  for (const sass::KernelImage& k : image.kernels) {
    cuda::Function f = nullptr;
    if (!check(driver_.module_function(&f, module, k.name.c_str()), "cuModuleGetFunction") ||
        (subject.launch.dynamic_shared > 0 &&
         !check(driver_.function_set(f, cuda::kMaxDynamicShared, static_cast<int>(subject.launch.dynamic_shared)),
                "cuFuncSetAttribute"))) {
      throw std::runtime_error(failure_);
    }
    out.push_back(f);
  }
  return out;
}

// Beside every CTA, or beside half of the multiprocessors: a kernel that takes all of one's registers finds the others free.
void Chip::make_noise() {
  constexpr unsigned kEverywhere = 264, kHalf = 66;
  if (driver_.event_query(noise_end_) == cuda::kNotReady) return;
  std::array<std::uint64_t, 2> params{noise_data_, 40000};
  std::size_t size = 12;
  std::array<void*, 5> extra = {cuda::kLaunchBuffer, params.data(), cuda::kLaunchBufferSize, &size, cuda::kLaunchEnd};
  const unsigned ctas = ++noises_ % 2 == 0 ? kEverywhere : kHalf;
  check(driver_.launch(noise_, ctas, 1, 1, 256, 1, 1, 0, noise_stream_, nullptr, extra.data()), "cuLaunchKernel");
  check(driver_.event_record(noise_end_, noise_stream_), "cuEventRecord");
}

std::vector<Buffer> Chip::run(const Subject& subject, cuda::Function function, bool noisy) {
  const Launch& l = subject.launch;
  std::vector<Buffer> after;
  for (const Buffer& b : l.before) {
    if (!check(driver_.copy_to_device(b.address, b.bytes.data(), b.bytes.size()), "cuMemcpyHtoD")) return {};
  }
  // A copy of so few bytes returns when they are on their way, and nothing orders it before a stream that does not wait for
  // the default one.
  if (!check(driver_.stream_synchronize(nullptr), "cuStreamSynchronize")) return {};
  if (noisy) make_noise();
  std::size_t size = l.params.size();
  std::array<void*, 5> extra = {cuda::kLaunchBuffer, const_cast<std::byte*>(l.params.data()), cuda::kLaunchBufferSize,
                                &size, cuda::kLaunchEnd};
  cuda::LaunchAttribute cluster;
  cluster.id = cuda::kClusterDimension;
  cluster.value[0] = l.grid.cluster;
  cluster.value[1] = cluster.value[2] = 1;
  cuda::LaunchConfig config = {l.grid.x, l.grid.y,         l.grid.z, l.threads, 1,
                               1,        l.dynamic_shared, stream_,  &cluster,  l.grid.cluster > 1 ? 1U : 0U};
  if (!check(driver_.launch_ex(&config, function, nullptr, extra.data()), "cuLaunchKernelEx") ||
      !check(driver_.stream_synchronize(stream_), "cuStreamSynchronize")) {
    return {};
  }
  for (const Buffer& b : l.before) {
    after.push_back({b.address, std::vector<std::byte>(b.bytes.size())});
    if (!check(driver_.copy_to_host(after.back().bytes.data(), b.address, b.bytes.size()), "cuMemcpyDtoH")) return {};
  }
  return after;
}

}  // namespace nervanagpu::test

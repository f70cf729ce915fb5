#include "test/mutants/record.h"

#include <algorithm>

namespace nervanagpu::test {

Recorder::~Recorder() {
  for (const auto& [address, bytes] : live_) inner().free(address, {});
}

std::uint64_t Recorder::allocate(std::size_t bytes, StreamId stream) {
  const std::uint64_t address = inner().allocate(bytes, stream);
  live_.emplace_back(address, bytes);
  return address;
}

std::vector<Buffer> Recorder::snapshot() {
  std::vector<Buffer> out;
  for (const auto& [address, bytes] : live_) {
    out.push_back({address, std::vector<std::byte>(bytes)});
    inner().download(out.back().bytes.data(), address, bytes);
  }
  return out;
}

template <class Do>
void Recorder::record(Launch launch, const Do& run) {
  inner().synchronize();
  launch.before = snapshot();
  run();
  inner().synchronize();
  launch.after = snapshot();
  launches_.push_back(std::move(launch));
}

void Recorder::start(const Kernel& kernel, const Grid& grid, std::span<const std::byte> params, StreamId stream) {
  Launch l{
      *kernel.image, kernel.manifest().threads, kernel.dynamic_shared(), grid, {params.begin(), params.end()}, {}, {}};
  if (kernel.manifest().op == "hgemm") l.grid.x = std::min(l.grid.x, 2U);
  const Grid used = l.grid;
  record(std::move(l), [&] { inner().launch(kernel, used, params, stream); });
}

std::shared_ptr<LoadedModule> Recorder::load_temporary(const sass::CubinImage& image,
                                                       std::span<const std::uint8_t> bytes) {
  std::shared_ptr<LoadedModule> out = inner().load_temporary(image, bytes);
  modules_.insert_or_assign(out.get(), image);
  return out;
}

void Recorder::start(LoadedModule& module, const ModuleLaunch& launch, StreamId stream) {
  const auto found = modules_.find(&module);
  if (found == modules_.end()) return inner().launch(module, launch, stream);  // of another recorder's time
  Launch l{found->second.kernels.at(launch.kernel),
           launch.block.x,
           launch.shared,
           launch.grid,
           {launch.params.begin(), launch.params.end()},
           {},
           {}};
  record(std::move(l), [&] { inner().launch(module, launch, stream); });
}

}  // namespace nervanagpu::test

#include "test/mutants/record.h"

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

void Recorder::launch(const Kernel& kernel, const Grid& grid, std::span<const std::byte> params, StreamId stream) {
  inner().synchronize();
  Launch l{&kernel, grid, {params.begin(), params.end()}, snapshot(), {}};
  inner().launch(kernel, grid, params, stream);
  inner().synchronize();
  l.after = snapshot();
  launches_.push_back(std::move(l));
}

}  // namespace nervanagpu::test

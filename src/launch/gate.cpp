// The one gate in front of every device. What waits (src/expr/deferred.h) is done before any work of the device, and a kernel's
// .needs are checked. What is being recorded is not started.
#include <string>

#include "nervanagpu/error.hpp"
#include "src/device/device.h"
#include "src/expr/deferred.h"
#include "src/launch/launch_tape.h"

namespace nervanagpu {
namespace {

sass::LaunchSize size_of(const Grid& grid, const sass::Manifest& manifest) {
  return {grid.x, grid.y, grid.z, grid.cluster != 0 ? grid.cluster : manifest.cluster};
}

// The first condition that does not hold, or nullptr.
const sass::Condition* unmet(std::span<const sass::Condition> needs, std::span<const std::byte> params,
                             const sass::LaunchSize& size) {
  ++needs_checked;
  for (const sass::Condition& c : needs) {
    if (!c.holds(params, size)) return &c;
  }
  return nullptr;
}

std::string refusal(const sass::Manifest& manifest, const sass::Condition& c, std::span<const std::byte> params,
                    const sass::LaunchSize& size) {
  return "kernel " + manifest.name + " needs " + c.text() + "; " + c.found(manifest, params, size);
}

}  // namespace

LoadedModule::LoadedModule(const sass::CubinImage& image) {
  for (const sass::KernelImage& k : image.kernels) {
    auto compiled = sass::compile_needs(k.manifest);
    if (!compiled.ok()) throw InvalidArgument(compiled.error().text().substr(std::string_view("error: ").size()));
    needs_.push_back({compiled->empty() ? sass::Manifest{} : k.manifest, std::move(*compiled)});
  }
}

CheckedLaunch Device::check(const Kernel& kernel, const Grid& grid, std::span<const std::byte> params) {
  const sass::LaunchSize size = size_of(grid, kernel.manifest());
  if (const sass::Condition* c = unmet(kernel.needs, params, size)) {
    throw Error(refusal(kernel.manifest(), *c, params, size));
  }
  return {kernel, grid};
}

void Device::launch(const Kernel& kernel, const Grid& grid, std::span<const std::byte> params, StreamId stream) {
  const CheckedLaunch checked = check(kernel, grid, params);
  if (LaunchTape* tape = LaunchTape::current()) return tape->add(checked, params, stream);
  expr::before_work();
  start(kernel, grid, params, stream);
}

void Device::launch(const CheckedLaunch& what, std::span<const std::byte> params, StreamId stream) {
  if (LaunchTape* tape = LaunchTape::current()) return tape->add(what, params, stream);
  ++needs_skipped;
  expr::before_work();
  start(what.kernel(), what.grid(), params, stream);
}

void Device::copy(std::uint64_t to, std::uint64_t from, std::size_t bytes, StreamId stream) {
  if (LaunchTape* tape = LaunchTape::current()) return tape->add(LaunchTape::Copy{to, from, bytes}, stream);
  expr::before_work();
  start_copy(to, from, bytes, stream);
}

void Device::fill(std::uint64_t to, std::uint32_t value, unsigned width, std::size_t count, StreamId stream) {
  if (LaunchTape* tape = LaunchTape::current()) return tape->add(LaunchTape::Fill{to, value, width, count}, stream);
  expr::before_work();
  start_fill(to, value, width, count, stream);
}

EncodedTensorMap Device::encode_tensor_map(const TensorMap& map) {
  if (LaunchTape* tape = LaunchTape::current()) return tape->add(map);
  return encode(map);
}

void Device::launch(LoadedModule& module, const ModuleLaunch& what, StreamId stream) {
  if (LaunchTape::current() != nullptr) throw Error("a module's kernel is launched where launches are recorded");
  const LoadedModule::Needs& needs = module.needs(what.kernel);
  const sass::LaunchSize size = size_of(what.grid, needs.manifest);
  if (const sass::Condition* c = unmet(needs.conditions, what.params, size)) {
    throw InvalidArgument(refusal(needs.manifest, *c, what.params, size));
  }
  expr::before_work();
  start(module, what, stream);
}

void Device::upload(std::uint64_t to, const void* from, std::size_t bytes) {
  expr::before_work();
  do_upload(to, from, bytes);
}

void Device::upload(std::uint64_t to, const void* from, std::size_t bytes, StreamId stream) {
  expr::before_work();
  do_upload(to, from, bytes, stream);
}

void Device::download(void* to, std::uint64_t from, std::size_t bytes) {
  expr::before_work();
  do_download(to, from, bytes);
}

void Device::copy_from(Device& source, std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  expr::before_work();
  do_copy_from(source, to, from, bytes);
}

void Device::synchronize(StreamId stream) {
  expr::before_work();
  do_synchronize(stream);
}

void Device::synchronize() {
  expr::before_work();
  do_synchronize();
}

void Device::record(EventId event, StreamId stream) {
  expr::before_work();
  do_record(event, stream);
}

void Device::stream_wait(StreamId stream, EventId event) {
  expr::before_work();
  do_stream_wait(stream, event);
}

// What waits is the graph's own.
GraphId Device::end_capture(StreamId stream) {
  try {
    expr::before_work();
  } catch (...) {
    abandon_capture(stream);
    throw;
  }
  return do_end_capture(stream);
}

void Device::launch_graph(GraphId graph, StreamId stream) {
  expr::before_work();
  do_launch_graph(graph, stream);
}

}  // namespace nervanagpu

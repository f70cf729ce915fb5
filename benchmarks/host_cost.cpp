// What a launch costs the calling thread: cuLaunchKernelEx alone, a plan, gemm(), of one kernel with the same parameters.
//
//   host_cost [BATCHES]      one JSON object on stdout: medians of BATCHES batches, nanoseconds a launch
//
// Batches are shorter than the driver's queue, so that no launch waits for the GPU; the ways take turns. Without a GPU there
// is nothing to compare with, and it says so.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/gemm/gemm.h"
#include "nervanagpu/nervanagpu.hpp"
#include "src/device/driver.h"
#include "src/device/select_device.h"
#include "src/launch/arguments.h"

namespace nervanagpu {
namespace {

constexpr int kBatch = 200;  // launches between two waits

GemmProblem problem_of(Dtype type, std::int64_t n, const std::vector<Tensor>& operands) {
  GemmProblem p;
  p.m = p.n = p.k = p.lda = p.ldb = p.ldc = n;
  p.a_type = p.b_type = p.c_type = p.bias_type = type;
  p.a = operands[0].address(), p.b = operands[1].address(), p.c = operands[2].address();
  return p;
}

// The chosen kernel as the driver's own call takes it.
class Bare {
 public:
  Bare(Device& device, const GemmProblem& p)
      : plan_(sgemm::choose(device.registry(), 132, p)), arguments_(plan_.kernel->manifest()) {
    const EmbeddedCubin& cubin = device.registry().cubins()[plan_.kernel->cubin];
    cuda::Module module = nullptr;
    check(driver_.module_load(&module, cubin.begin));
    check(driver_.module_function(&function_, module, plan_.kernel->name().c_str()));
    const std::uint32_t shared = plan_.kernel->dynamic_shared();
    if (shared > 0) check(driver_.function_set(function_, cuda::kMaxDynamicShared, static_cast<int>(shared)));
    sgemm::values_of(plan_, p, &device).pack(arguments_);
    config_.grid_x = plan_.grid.x, config_.grid_y = plan_.grid.y, config_.grid_z = plan_.grid.z;
    config_.block_x = plan_.kernel->manifest().threads;
    config_.shared = shared;
  }
  void launch(std::uint64_t stream) {
    config_.stream = reinterpret_cast<cuda::Stream>(stream);  // NOLINT(performance-no-int-to-ptr)
    std::size_t size = arguments_.block().size();
    void* extra[] = {cuda::kLaunchBuffer, const_cast<std::byte*>(arguments_.block().data()), cuda::kLaunchBufferSize,
                     &size, cuda::kLaunchEnd};
    check(driver_.launch_ex(&config_, function_, nullptr, extra));
  }
  [[nodiscard]] const std::string& name() const { return plan_.kernel->name(); }

 private:
  static void check(cuda::Status status) {
    if (status != cuda::kSuccess) throw Error("the driver says " + std::to_string(status));
  }
  const cuda::Driver& driver_ = *cuda::load_driver().driver;
  sgemm::Plan plan_;
  Arguments arguments_;
  cuda::Function function_ = nullptr;
  cuda::LaunchConfig config_;
};

template <class F>
double batch(const Stream& stream, const F& launch) {
  stream.synchronize();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kBatch; ++i) launch();
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  stream.synchronize();
  return took.count() / kBatch;
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

void measure(Dtype type, std::int64_t n, int batches, bool last) {
  Device& device = current_device();
  const Stream stream = Stream::create();
  std::vector<Tensor> operands;
  operands.reserve(3);
  for (int i = 0; i < 3; ++i) operands.push_back(Tensor::zeros({n, n}, type));
  const GemmProblem p = problem_of(type, n, operands);
  Bare bare(device, p);
  const GemmPlan plan(p);
  std::vector<double> alone, planned, tensors, whole;
  const GemmPlan of_tensors(operands[0], operands[1], operands[2]);
  for (int i = 0; i < batches; ++i) {
    alone.push_back(batch(stream, [&] { bare.launch(stream.handle()); }));
    planned.push_back(batch(stream, [&] { plan.launch({p.a, p.b, p.c}, stream); }));
    tensors.push_back(
        batch(stream, [&] { of_tensors.launch(operands[0], operands[1], operands[2], nullptr, stream); }));
    whole.push_back(batch(stream, [&] { gemm(p, stream); }));
  }
  std::printf(R"(  {"kernel": "%s", "bare_ns": %.1f, "plan_ns": %.1f, "plan_of_tensors_ns": %.1f, "gemm_ns": %.1f}%s)"
              "\n",
              bare.name().c_str(), median(alone), median(planned), median(tensors), median(whole), last ? "" : ",");
}

}  // namespace
}  // namespace nervanagpu

int main(int argc, char** argv) {
  using namespace nervanagpu;  // NOLINT(google-build-using-namespace)
  try {
    if (device().kind != DeviceKind::cuda) {
      std::printf("[]\n");
      std::fprintf(stderr, "host_cost: there is no GPU to launch on\n");
      return 0;
    }
    const int batches = argc > 1 ? std::max(1, std::atoi(argv[1])) : 300;
    std::printf("[\n");
    measure(Dtype::float32, 64, batches, false);
    measure(Dtype::float16, 128, batches, true);
    std::printf("]\n");
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "host_cost: %s\n", e.what());
    return 1;
  }
}

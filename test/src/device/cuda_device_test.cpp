// CudaDevice on a driver library that is made for the test.
#include "src/device/cuda_device.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <set>

#include "nervanagpu/error.hpp"
#include "nervanagpu/nervanagpu.hpp"
#include "sass/asm/builder/builder.h"
#include "src/device/select_device.h"
#include "test/src/expect_error.h"
#include "test/src/fake_driver.h"

namespace nervanagpu {
namespace {

using test::FakeDriver;

class CudaDeviceTest : public ::testing::Test {
 protected:
  CudaDevice open() { return CudaDevice(fake_.table(), 0, embedded_cubins(), sass::Arch::sm_90a, false); }
  // The driver is what is looked at: its launches have parameters of no problem.
  Kernel any_of(const Device& d, const char* op) {
    Kernel k = *d.registry().of_op(op).front();
    k.needs.clear();
    return k;
  }
  Kernel a_kernel(const Device& d) { return any_of(d, "sgemm"); }
  // A block of parameters that fits the kernel.
  std::vector<std::byte> params(const Kernel& k) { return std::vector<std::byte>(k.image->param_bytes); }

  FakeDriver fake_;
};

TEST_F(CudaDeviceTest, DescribesTheGpu) {
  const CudaDevice d = open();
  EXPECT_EQ(d.info().name, "Fake GPU");
  EXPECT_EQ(d.info().arch, "sm_90a");
  EXPECT_EQ(d.info().multiprocessors, 132);
  EXPECT_EQ(d.info().driver, 12040);
  EXPECT_EQ(fake_.functions.size(), d.registry().kernels().size());
}

TEST_F(CudaDeviceTest, LaunchPassesThePackedBlock) {
  CudaDevice d = open();
  const Kernel k = a_kernel(d);
  std::vector<std::byte> block = params(k);
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<std::byte>(i);
  d.launch(k, {3, 4, 5}, block, 0x42);
  ASSERT_EQ(fake_.launches.size(), 1U);
  const FakeDriver::Launch& l = fake_.launches.front();
  EXPECT_EQ(l.kernel, k.name());
  EXPECT_EQ(l.grid[0], 3U);
  EXPECT_EQ(l.grid[1], 4U);
  EXPECT_EQ(l.grid[2], 5U);
  EXPECT_EQ(l.block, k.manifest().threads);
  EXPECT_EQ(l.stream, 0x42U);
  EXPECT_EQ(l.params, block);
}

TEST_F(CudaDeviceTest, MakesItsContextCurrentAndPutsAnotherBack) {
  CudaDevice d = open();
  const auto other = reinterpret_cast<cuda::Context>(0x1234);
  fake_.current = other;
  d.synchronize();
  EXPECT_EQ(fake_.current, other);
  fake_.current = nullptr;
  d.synchronize();
  EXPECT_NE(fake_.current, nullptr);  // nobody else's: ours stays
}

TEST_F(CudaDeviceTest, ReusesFreedMemory) {
  CudaDevice d = open();
  const std::uint64_t a = d.allocate(1000);
  d.free(a, {});
  EXPECT_EQ(d.allocate(1000), a);
  EXPECT_EQ(fake_.calls("cuMemAlloc_v2"), 1);
  EXPECT_EQ(d.memory_stats().reused, 1U);
}

TEST_F(CudaDeviceTest, OutOfMemoryReleasesTheCacheAndTriesAgain) {
  CudaDevice d = open();
  const std::uint64_t a = d.allocate(40 << 20);
  d.free(a, {});
  EXPECT_EQ(fake_.used, std::size_t{40} << 20);
  const std::uint64_t b = d.allocate(60 << 20);  // fits only without the cached block
  EXPECT_NE(b, 0U);
  EXPECT_EQ(d.memory_stats().reserved, std::size_t{60} << 20);
}

TEST_F(CudaDeviceTest, OutOfMemoryLeavesThePoolAsItWas) {
  CudaDevice d = open();
  const std::uint64_t a = d.allocate(1 << 20);
  const MemoryStats before = d.memory_stats();
  expect_error<OutOfMemory>(
      [&] { d.allocate(std::size_t{1} << 30); },
      "out of memory: 1073741824 bytes asked for, 66060288 free on the device, 1048576 held by tensors");
  const MemoryStats after = d.memory_stats();
  EXPECT_EQ(after.in_use, before.in_use);
  EXPECT_EQ(after.reserved, before.reserved);
  EXPECT_EQ(after.allocations, before.allocations);
  d.free(a, {});
  EXPECT_EQ(d.allocate(1 << 20), a);
}

TEST_F(CudaDeviceTest, AFailedKernelIsLatchedWithItsName) {
  CudaDevice d = open();
  const Kernel k = a_kernel(d);
  d.launch(k, {1, 2, 1}, params(k), 0);
  fake_.fail("cuCtxSynchronize", 700);
  const std::string text =
      "the device is lost: cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was "
      "encountered; "
      "first kernel since the last synchronisation: " +
      k.name() + ", grid (1, 2, 1), launch 1";
  expect_error<DeviceLost>([&] { d.synchronize(); }, text);
  fake_.mend("cuCtxSynchronize");
  // Every later call says the same, and none reaches the driver.
  const int launches = fake_.calls("cuLaunchKernel");
  const int copies = fake_.calls("cuMemcpyHtoD_v2");
  const float x = 0;
  expect_error<DeviceLost>([&] { d.launch(k, {1, 1, 1}, params(k), 0); }, text);
  expect_error<DeviceLost>([&] { d.upload(0x1000, &x, 4); }, text);
  expect_error<DeviceLost>([&] { d.allocate(16); }, text);
  expect_error<DeviceLost>([&] { d.synchronize(); }, text);
  EXPECT_EQ(fake_.calls("cuLaunchKernel"), launches);
  EXPECT_EQ(fake_.calls("cuMemcpyHtoD_v2"), copies);
}

TEST_F(CudaDeviceTest, ClustersAndProgrammaticLaunchesAreAskedOfTheDriver) {
  CudaDevice d = open();
  const Kernel plain = a_kernel(d);
  d.launch(plain, {4, 1, 1, 2}, params(plain), 0);
  using Attributes = std::map<int, std::vector<std::uint32_t>>;
  EXPECT_EQ(fake_.launches.back().attributes, (Attributes{{cuda::kClusterDimension, {2, 1, 1}}}));
  d.launch(plain, {4, 1, 1, 1}, params(plain), 0);  // a cluster of one is none
  EXPECT_EQ(fake_.calls("cuLaunchKernel"), 1);
  const Kernel early = any_of(d, "hgemm_cluster");
  ASSERT_TRUE(early.manifest().programmatic);
  d.launch(early, {3, 2, 1, 3}, params(early), 0);
  const FakeDriver::Launch& l = fake_.launches.back();
  EXPECT_EQ(l.kernel, early.name());
  EXPECT_EQ(l.block, early.manifest().threads);
  EXPECT_EQ(l.shared, early.dynamic_shared());
  EXPECT_EQ(l.params.size(), params(early).size());
  EXPECT_EQ(l.attributes,
            (Attributes{{cuda::kClusterDimension, {3, 1, 1}}, {cuda::kProgrammaticSerialization, {1, 0, 0}}}));
}

// A module of one kernel that does nothing.
std::shared_ptr<LoadedModule> temporary(CudaDevice& d) {
  sass::Builder b(sass::Arch::sm_90a, "k");
  b.threads(32);
  b.emit(sass::Op::EXIT, {}, {});
  const auto kernel = b.finish();
  const sass::CubinImage image = {.arch = sass::Arch::sm_90a, .kernels = {*kernel}};
  return d.load_temporary(image, *sass::write_cubin(image));
}
ModuleLaunch once() {
  ModuleLaunch what;
  what.block = {32, 1, 1};
  return what;
}

TEST_F(CudaDeviceTest, VariablesHaveTheDriversAddresses) {
  CudaDevice d = open();
  const auto module = temporary(d);
  EXPECT_EQ(module->variable("counter").address, 0x7000U);
  EXPECT_EQ(module->variable("counter").bytes, 4U);
  EXPECT_EQ(module->variable("nothing").address, 0U);
  fake_.fail("cuModuleGetGlobal_v2", 999);
  EXPECT_THROW(static_cast<void>(module->variable("counter")), Error);
}

TEST_F(CudaDeviceTest, TemporaryModulesAreUnloadedBehindTheirWork) {
  CudaDevice d = open();
  const std::size_t before = temporary_module_bytes.load(), loaded = fake_.modules.size();
  const StreamId stream = d.create_stream();
  auto module = temporary(d), unused = temporary(d);
  EXPECT_NE(unused, module);  // no two owners share one
  EXPECT_EQ(temporary_module_bytes.load(), before + module->bytes() + unused->bytes());
  d.launch(*module, once(), stream);
  fake_.events_pending = true;
  unused.reset();
  module.reset();
  d.unload_idle();
  EXPECT_EQ(fake_.calls("cuModuleUnload"), 0);
  fake_.events_pending = false;
  d.unload_idle();
  EXPECT_EQ(fake_.calls("cuModuleUnload"), 2);
  EXPECT_EQ(fake_.modules.size(), loaded);
  EXPECT_EQ(temporary_module_bytes.load(), before);
}

TEST_F(CudaDeviceTest, LoadingMoreUnloadsWhatIsIdle) {
  CudaDevice d = open();
  const std::size_t loaded = fake_.modules.size();
  for (int i = 0; i < 100; ++i) d.launch(*temporary(d), once(), 0);
  EXPECT_LE(fake_.modules.size(), loaded + 2);
}

TEST_F(CudaDeviceTest, ASynchronisationUnloadsAllThatIsRetired) {
  CudaDevice d = open();
  auto ours = temporary(d), theirs = temporary(d);
  const std::size_t loaded = fake_.modules.size() - 2;
  fake_.events_pending = true;
  d.launch(*ours, once(), 0);
  d.launch(*theirs, once(), 0x4200);  // a stream of somebody else
  ours.reset(), theirs.reset();
  d.unload_idle();
  fake_.events_pending = false;
  d.unload_idle();
  EXPECT_EQ(fake_.modules.size(), loaded + 1) << "nobody knows when the other stream has done its work";
  fake_.fail("cuCtxSynchronize", 999);
  EXPECT_THROW(d.synchronize(), Error);
  EXPECT_EQ(fake_.modules.size(), loaded + 1);
  fake_.mend("cuCtxSynchronize");
  d.synchronize();
  EXPECT_EQ(fake_.modules.size(), loaded);
}

TEST_F(CudaDeviceTest, TheUsersModulesStay) {
  CudaDevice d = open();
  const std::size_t loaded = fake_.modules.size();
  sass::Builder b(sass::Arch::sm_90a, "k");
  b.threads(32);
  b.emit(sass::Op::EXIT, {}, {});
  const sass::CubinImage image = {.arch = sass::Arch::sm_90a, .kernels = {*b.finish()}};
  static_cast<void>(d.load(image, *sass::write_cubin(image)));
  d.synchronize();
  EXPECT_EQ(fake_.modules.size(), loaded + 1);
}

TEST_F(CudaDeviceTest, GraphsHoldTheirModules) {
  CudaDevice d = open();
  const std::size_t loaded = fake_.modules.size();
  const StreamId stream = d.create_stream();
  auto module = temporary(d);
  d.begin_capture(stream);
  d.launch(*module, once(), 0);
  module.reset();
  d.unload_idle();
  EXPECT_EQ(fake_.calls("cuEventRecord"), 0) << "it would be recorded in the graph";
  const GraphId graph = d.end_capture(stream);
  d.synchronize();
  d.launch_graph(graph, stream);
  EXPECT_EQ(fake_.launches.size(), 1U);
  EXPECT_EQ(fake_.modules.size(), loaded + 1);
  d.destroy_graph(graph);
  fake_.events_pending = true;  // it may still run
  d.unload_idle();
  EXPECT_EQ(fake_.modules.size(), loaded + 1);
  fake_.events_pending = false;
  d.unload_idle();
  EXPECT_EQ(fake_.modules.size(), loaded);
}

TEST_F(CudaDeviceTest, AbandonedGraphsHoldNothing) {
  CudaDevice d = open();
  const std::size_t loaded = fake_.modules.size();
  const StreamId stream = d.create_stream();
  d.begin_capture(stream);
  d.launch(*temporary(d), once(), 0);
  d.abandon_capture(stream);
  d.unload_idle();
  EXPECT_EQ(fake_.modules.size(), loaded);
}

TEST_F(CudaDeviceTest, SomebodyElsesGraphsHoldTheirModulesForGood) {
  CudaDevice d = open();
  const std::size_t loaded = fake_.modules.size();
  const StreamId stream = d.create_stream();
  auto module = temporary(d);
  fake_.capturing = 9;
  d.launch(*module, once(), stream);
  d.launch(*module, once(), stream);
  module.reset();
  d.unload_idle();
  fake_.capturing = 0;
  d.synchronize();
  EXPECT_EQ(fake_.modules.size(), loaded + 1);
}

TEST(TemporaryModule, MayOutliveItsDevice) {
  FakeDriver fake;
  std::shared_ptr<LoadedModule> module;
  {
    CudaDevice d(fake.table(), 0, embedded_cubins(), sass::Arch::sm_90a, false);
    module = temporary(d);
  }
  module.reset();
  EXPECT_EQ(fake.calls("cuModuleUnload"), 0);
}

// Expressions' kernels and the user's own: the module says whether they wait for the work ahead themselves.
TEST_F(CudaDeviceTest, KernelsOfModulesStartEarlyIfTheyWait) {
  using Attributes = std::map<int, std::vector<std::uint32_t>>;
  for (const bool waits : {false, true}) {
    CudaDevice d = open();
    sass::Builder b(sass::Arch::sm_90a, "k");
    b.threads(32);
    if (waits) b.programmatic();
    b.emit(sass::Op::EXIT, {}, {});
    const auto kernel = b.finish();
    ASSERT_TRUE(kernel.ok()) << kernel.error().text();
    const sass::CubinImage image = {.arch = sass::Arch::sm_90a, .kernels = {*kernel}};
    const auto bytes = sass::write_cubin(image);
    ASSERT_TRUE(bytes.ok());
    const auto module = d.load(image, *bytes);
    ModuleLaunch what;
    what.grid = {5, 2, 3};
    what.block = {32, 1, 1};
    d.launch(*module, what, 0x42);
    const FakeDriver::Launch& l = fake_.launches.back();
    EXPECT_EQ(l.kernel, "k");
    EXPECT_EQ(l.grid[0] * 100 + l.grid[1] * 10 + l.grid[2], 523U);
    EXPECT_EQ(l.block, 32U);
    EXPECT_EQ(l.stream, 0x42U);
    EXPECT_EQ(l.attributes, waits ? (Attributes{{cuda::kProgrammaticSerialization, {1, 0, 0}}}) : Attributes{});
  }
}

TEST_F(CudaDeviceTest, AnOldDriverStartsKernelsInOrderAndHasNoClusters) {
  fake_.forget_launch_ex();
  CudaDevice d = open();
  const Kernel early = any_of(d, "hgemm_cluster");
  d.launch(early, {1, 1, 1}, params(early), 0);
  EXPECT_EQ(fake_.calls("cuLaunchKernel"), 1);
  expect_error<Error>(
      [&] {
        d.launch(early, {2, 1, 1, 2}, params(early), 0);
      },
      "kernel " + early.name() + ": this driver has no cuLaunchKernelEx");
}

TEST_F(CudaDeviceTest, ASynchronisationClearsTheLog) {
  CudaDevice d = open();
  const Kernel k = a_kernel(d);
  d.launch(k, {1, 1, 1}, params(k), 0);
  d.synchronize();
  d.launch(k, {7, 1, 1}, params(k), 0);
  d.launch(k, {8, 1, 1}, params(k), 0);
  fake_.fail("cuStreamSynchronize", 719);
  expect_error<DeviceLost>(
      [&] { d.synchronize(StreamId{0}); },
      "the device is lost: cuStreamSynchronize: CUDA_ERROR_LAUNCH_FAILED (719); first kernel since the "
      "last synchronisation: " +
          k.name() + ", grid (7, 1, 1), launch 2; last: " + k.name() + ", grid (8, 1, 1), launch 3");
}

TEST_F(CudaDeviceTest, SyncLaunchesNamesTheKernelThatFailed) {
  CudaDevice d(fake_.table(), 0, embedded_cubins(), sass::Arch::sm_90a, true);
  const Kernel k = a_kernel(d);
  fake_.fail("cuStreamSynchronize", 700);
  EXPECT_THROW(d.launch(k, {1, 1, 1}, params(k), 0), DeviceLost);
}

TEST_F(CudaDeviceTest, OtherFailuresAreNotLatched) {
  CudaDevice d = open();
  fake_.fail("cuStreamCreate", 999);
  expect_error<Error>([&] { d.create_stream(); }, "cuStreamCreate: status 999");
  fake_.mend("cuStreamCreate");
  EXPECT_NE(d.create_stream(), 0U);
}

TEST_F(CudaDeviceTest, ABlockInUseOnAStreamIsNotHandedOut) {
  CudaDevice d = open();
  const std::uint64_t a = d.allocate(4096);
  fake_.events_pending = true;
  const StreamId stream = 0x42;
  d.free(a, {&stream, 1});
  const std::uint64_t b = d.allocate(4096);
  EXPECT_NE(b, a);
  fake_.events_pending = false;
  EXPECT_EQ(d.allocate(4096), a);
  EXPECT_EQ(fake_.calls("cuEventDestroy_v2"), 1);
}

// Memory that a stream may still use asks that stream how far it is, so the stream must not go first.
TEST_F(CudaDeviceTest, AStreamOutlivesTheTensorsUsedOnIt) {
  CudaDevice d = open();
  Device* before = exchange_device(&d);
  {
    const Tensor t = Tensor::empty({16});
    {
      const Stream stream = Stream::create();
      t.used_on(stream);
    }
    EXPECT_EQ(fake_.calls("cuStreamDestroy_v2"), 0);
  }
  EXPECT_EQ(fake_.calls("cuEventRecord"), 1);
  EXPECT_EQ(fake_.calls("cuStreamDestroy_v2"), 1);
  exchange_device(before);
}

TEST_F(CudaDeviceTest, AForkedChildIsToldSo) {
  CudaDevice d = open();
  const pid_t child = fork();
  if (child == 0) {
    int status = 1;
    try {
      d.synchronize();
    } catch (const Error& e) {
      status = std::strstr(e.what(), "forked") != nullptr ? 0 : 2;
    }
    _exit(status);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  d.synchronize();  // the parent is as before
}

// Each driver call in turn fails with each kind of status while a device is opened, a tensor made, computed with and
// freed: a typed error or success, and no memory kept.
// Also those of several kernels, whose temporary memory stays until the stream is done with it.
TEST_F(CudaDeviceTest, GeneratedKernelsGoToTheStreamOfTheirOperation) {
  CudaDevice d = open();
  Device* const before = exchange_device(&d);
  {
    const Stream stream = Stream::from_handle(0x42);
    Tensor x = Tensor::empty({1000, 64}), y = Tensor::empty({1000, 64}), db = Tensor::empty({64});
    const Tensor labels = Tensor::empty({1000}, Dtype::int32);
    Tensor loss = Tensor::empty({1000}), half = Tensor::empty({64}, Dtype::float16);
    fake_.launches.clear();
    activation_fprop(Activation::relu, x, y, 0, {}, stream);
    dropout(x, y, 0.5F, 1, 2, {}, stream);
    relu_bias_bprop(x, y, true, db, stream);
    bias_grad(x, true, half, 1, 0, {true, 1, 2, 0}, stream);
    softmax_fprop(x, &labels, x, &loss, stream);
    SgdOptions o;
    o.stream = stream;
    sgd_update(x, nullptr, y, Tensor::empty({1000, 64}), o);
    EXPECT_GE(fake_.launches.size(), 10U);
    for (const FakeDriver::Launch& l : fake_.launches) EXPECT_EQ(l.stream, 0x42U) << l.kernel;
    add(x, x, y);
    EXPECT_EQ(fake_.launches.back().stream, 0U);
  }
  exchange_device(before);
}

TEST_F(CudaDeviceTest, EveryCallMayFail) {
  // Hundreds of devices are opened: of the cubins only those that the scenario needs, reading the others takes minutes.
  std::vector<EmbeddedCubin> few;
  for (const EmbeddedCubin& cubin : embedded_cubins()) {
    if (std::string_view(cubin.name).starts_with("sgemm.")) few.push_back(cubin);
  }
  const auto scenario = [&] {
    CudaDevice d(fake_.table(), 0, few, sass::Arch::sm_90a, false);
    Device* before = exchange_device(&d);
    try {
      Tensor a = Tensor::zeros({16, 16});
      const Stream stream = Stream::create();
      GemmOptions options;
      options.stream = stream;
      const Tensor c = dot(a, a, options);
      std::vector<float> host = c.to_host<float>();
      Event mark;
      mark.record(stream);
      synchronize();
    } catch (...) {
      exchange_device(before);
      throw;
    }
    exchange_device(before);
  };
  scenario();
  EXPECT_TRUE(fake_.live.empty());
  const std::vector<const char*> symbols = {
#define NG_NAME(member, symbol, parameters) symbol,
      NG_DRIVER_CALLS(NG_NAME)
#undef NG_NAME
  };
  std::set<std::string> raised;
  for (const char* symbol : symbols) {
    for (const cuda::Status status : {2, 1, 3, 700, 719}) {
      for (int nth = 1; nth <= 3; ++nth) {
        fake_.fail(symbol, status, nth);
        try {
          scenario();
        } catch (const Error&) {
          raised.insert(symbol);
        }
        fake_.mend(symbol);
        // What a lost context held is the driver's to free; anything else must have been given back.
        if (status < 700 && std::string(symbol) != "cuMemFree_v2") {
          EXPECT_TRUE(fake_.live.empty()) << symbol << " returned " << status << " at call " << nth;
        }
        while (!fake_.live.empty()) fake_.table().memory_free(fake_.live.begin()->first);
        fake_.current = nullptr;
      }
    }
  }
  // All but what opening has done before, what cleans up, and what only messages ask.
  for (const char* symbol : {"cuDriverGetVersion", "cuDeviceGetName", "cuDeviceGetAttribute", "cuDeviceTotalMem_v2",
                             "cuDevicePrimaryCtxRetain", "cuCtxSynchronize", "cuMemAlloc_v2", "cuMemcpyDtoH_v2",
                             "cuMemsetD32Async", "cuStreamCreate", "cuThreadExchangeStreamCaptureMode", "cuEventCreate",
                             "cuEventRecord", "cuModuleLoadData", "cuModuleGetFunction", "cuLaunchKernel"}) {
    EXPECT_EQ(raised.count(symbol), 1U) << symbol;
  }
}

}  // namespace
}  // namespace nervanagpu

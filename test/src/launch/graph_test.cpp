// Graphs on the fake driver: what is recorded, where it goes, and what happens to memory and errors.
#include "nervanagpu/graph.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "nervanagpu/error.hpp"
#include "nervanagpu/memory_report.hpp"
#include "nervanagpu/nervanagpu.hpp"
#include "src/device/cuda_device.h"
#include "src/device/select_device.h"
#include "test/src/expect_error.h"
#include "test/src/fake_driver.h"

namespace nervanagpu {
namespace {

using test::FakeDriver;

class GraphTest : public ::testing::Test {
 protected:
  GraphTest() : device_(fake_.table(), 0, embedded_cubins(), sass::Arch::sm_90a, false) { exchange_device(&device_); }
  ~GraphTest() override { exchange_device(nullptr); }
  GraphTest(const GraphTest&) = delete;
  GraphTest& operator=(const GraphTest&) = delete;

  FakeDriver fake_;
  CudaDevice device_;
};

TEST_F(GraphTest, RecordsTheDefaultStreamInItsOwn) {
  const Tensor x = Tensor::zeros({64}), y = Tensor::zeros({64}), a = Tensor::zeros({8, 8});
  const Stream stream = Stream::create();
  std::uint64_t inside = 0;
  bool recording = false;
  const Graph graph = Graph::capture(
      [&] {
        assign(y, Expr(x) + 1);
        assign_later(x, Expr(x) * 2);  // recorded, too: it is done before the recording ends
        Tensor product = dot(a, a);
        inside = product.address();
        recording = Graph::recording();
      },
      stream);
  EXPECT_TRUE(recording);
  EXPECT_FALSE(Graph::recording());
  EXPECT_TRUE(fake_.launches.empty());
  ASSERT_EQ(fake_.graph.size(), 3U);
  for (const FakeDriver::Launch& l : fake_.graph) EXPECT_EQ(l.stream, stream.handle()) << l.kernel;
  graph.launch();
  graph.launch(stream);
  EXPECT_EQ(fake_.launches.size(), 6U);
  EXPECT_EQ(fake_.calls("cuGraphLaunch"), 2);
  // The product's memory is the graph's until it is given back.
  EXPECT_NE(Tensor::empty({8, 8}).address(), inside);
  assign(y, Expr(x) + 1);
  EXPECT_EQ(fake_.launches.back().stream, 0U);
  release_captured_memory();
  const Tensor one = Tensor::empty({8, 8}), two = Tensor::empty({8, 8});
  EXPECT_TRUE(one.address() == inside || two.address() == inside);
}

// A driver refuses work of the default stream while a stream is recorded that it waits for, whichever thread it comes from,
// and waiting for the context.
TEST_F(GraphTest, OtherThreadsGoOnMeanwhile) {
  const Tensor x = Tensor::zeros({64}), y = Tensor::zeros({64}), a = Tensor::zeros({8, 8});
  std::string failed;
  const auto others = [&] {
    try {
      const Tensor mine = Tensor::from_host<float>(std::vector<float>(64), {64});
      assign(mine, Expr(mine) + 1);
      static_cast<void>(dot(a, a).to_host<float>());
      Stream::create().synchronize();
      Event().record();
      synchronize();
    } catch (const Error& e) {
      failed = e.what();
    }
  };
  const Graph graph = Graph::capture([&] {
    assign(y, Expr(x) + 1);
    std::thread(others).join();
    assign(x, Expr(y) * 2);
  });
  EXPECT_EQ(failed, "");
  EXPECT_EQ(fake_.graph.size(), 2U) << "the recording thread's";
  EXPECT_EQ(fake_.launches.size(), 2U) << "the other one's";
  EXPECT_EQ(fake_.calls("cuStreamCreate"), fake_.calls("cuStreamDestroy_v2"));
  graph.launch();
  EXPECT_EQ(fake_.launches.size(), 4U);
}

TEST_F(GraphTest, KeepsKernelsWhoseEntriesWent) {
  const Tensor x = Tensor::zeros({64}), y = Tensor::zeros({64});
  const std::size_t budget = kernel_cache().budget;
  {
    const Graph graph = Graph::capture([&] { assign(y, Expr(x) + 1); });
    const std::size_t loaded = fake_.modules.size();
    set_kernel_cache(0);
    device_.synchronize();
    EXPECT_EQ(kernel_cache().entries, 0U);
    EXPECT_EQ(fake_.modules.size(), loaded);
    graph.launch();  // the driver would refuse a module that it has not
    EXPECT_EQ(fake_.launches.size(), 1U);
  }
  const std::size_t held = fake_.modules.size();
  device_.synchronize();
  EXPECT_EQ(fake_.modules.size(), held - 1);
  set_kernel_cache(budget);
}

TEST_F(GraphTest, ErrorsEndTheRecording) {
  const Stream stream = Stream::create();
  EXPECT_THROW(Graph::capture([] { throw std::runtime_error("mine"); }, stream), std::runtime_error);
  EXPECT_EQ(fake_.capturing, 0U);
  expect_error<InvalidArgument>([&] { Graph::capture([] { Graph::capture([] {}); }, stream); },
                                "graph: this thread records another one");
  EXPECT_EQ(fake_.capturing, 0U);
  expect_error<InvalidArgument>([] { Graph::capture([] {}, Stream()); },
                                "graph: stream is the default one; needs a Stream of its own");
  expect_error<InvalidArgument>([] { Graph::capture({}); }, "graph: there is no body");
  expect_error<InvalidArgument>([] { Graph().launch(); }, "graph: nothing was captured");
  fake_.fail("cuStreamBeginCapture_v2", 1);
  expect_error<Error>([] { Graph::capture([] {}); }, "cuStreamBeginCapture_v2: status 1");
  fake_.mend("cuStreamBeginCapture_v2");
  EXPECT_EQ(fake_.calls("cuStreamDestroy_v2"), fake_.calls("cuStreamCreate") - 1) << "of which one is ours";
  fake_.fail("cuGraphInstantiateWithFlags", 1);
  expect_error<Error>([&] { Graph::capture([] {}, stream); }, "cuGraphInstantiateWithFlags: status 1");
  fake_.mend("cuGraphInstantiateWithFlags");
  Graph::capture([] {}, stream).launch();
  EXPECT_EQ(fake_.calls("cuGraphDestroy"), 4);
  EXPECT_EQ(fake_.calls("cuGraphExecDestroy"), 1);
}

TEST(PinnedMemory, IsTheDriversAndGoesBack) {
  FakeDriver fake;
  CudaDevice device(fake.table(), 0, embedded_cubins(), sass::Arch::sm_90a, false);
  exchange_device(&device);
  {
    const std::shared_ptr<void> memory = pinned_memory(1000);
    EXPECT_EQ(fake.pinned, 1);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % 64, 0U);
    try {
      pinned_memory(fake.capacity + 1);
      ADD_FAILURE() << "more than the driver has";
    } catch (const OutOfMemory& e) {
      const std::string what = e.what();
      EXPECT_TRUE(what.starts_with("out of memory: 67108865 bytes of host memory asked for, ") &&
                  what.ends_with(" free"))
          << what;
    }
    EXPECT_NE(pinned_memory(0), nullptr);
  }
  EXPECT_EQ(fake.pinned, 0);
  exchange_device(nullptr);
}

TEST(Graph, AnOldDriverHasNone) {
  FakeDriver fake;
  fake.forget_graphs();
  CudaDevice device(fake.table(), 0, embedded_cubins(), sass::Arch::sm_90a, false);
  exchange_device(&device);
  expect_error<Error>([] { Graph::capture([] {}); }, "graph: this driver has no graphs");
  exchange_device(nullptr);
}

}  // namespace
}  // namespace nervanagpu

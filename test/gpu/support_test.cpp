// What the comparisons stand on, tested without a GPU: numbers, bounds, references, guards, the report, the search for
// libraries.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "test/gpu/bound.h"
#include "test/gpu/buffer.h"
#include "test/gpu/cases.h"
#include "test/gpu/peer_library.h"
#include "test/gpu/reference.h"
#include "test/gpu/report.h"

namespace nervanagpu::gpu_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Numbers, EveryHalfRoundTrips) {
  Bytes all(std::size_t{1} << 17);
  for (std::size_t i = 0; i < all.size(); i += 2) {
    all[i] = static_cast<std::uint8_t>(i / 2 & 255);
    all[i + 1] = static_cast<std::uint8_t>(i / 2 >> 8);
  }
  const Values values = decode(all, Dtype::float16);
  EXPECT_EQ(values[0x3c00], 1.0);
  EXPECT_EQ(values[0x0001], 0x1p-24);
  EXPECT_EQ(values[0xfbff], -65504.0);
  const Bytes again = encode(values, Dtype::float16);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    ASSERT_TRUE(again[i * 2] == all[i * 2] && again[i * 2 + 1] == all[i * 2 + 1]) << i;
  }
}

TEST(Numbers, RoundTrips) {
  EXPECT_EQ(decode(encode({-128, 127}, Dtype::int8), Dtype::int8), (Values{-128, 127}));
  EXPECT_EQ(decode(encode({0, 255}, Dtype::uint8), Dtype::uint8), (Values{0, 255}));
  EXPECT_EQ(decode(encode({-2147483648.0, 7}, Dtype::int32), Dtype::int32), (Values{-2147483648.0, 7}));
  EXPECT_EQ(decode(encode({0.1F}, Dtype::float32), Dtype::float32), (Values{0.1F}));
  EXPECT_EQ(round_to(2049.0, Dtype::float16), 2048.0);
}

TEST(Bound, GammaAndRounding) {
  EXPECT_EQ(gamma(0, kUnitFloat), 0.0);
  EXPECT_GT(gamma(10, kUnitFloat), 10 * 0x1p-24);
  EXPECT_LT(gamma(10, kUnitFloat), 10.0001 * 0x1p-24);
  const Values b = bounds({-3}, {5}, 2, kUnitFloat, Dtype::int32);
  EXPECT_EQ(b[0], gamma(2, kUnitFloat) * 5);
  EXPECT_GE(bounds({1000}, {0}, 2, kUnitFloat, Dtype::float16)[0], 1000 * 0x1p-11);
}

TEST(Bound, DistanceSeesWhatIsOut) {
  EXPECT_EQ(distance({1, 2}, {1, 2.5}, {0, 1}).out, 0);
  EXPECT_EQ(distance({1, 2}, {1, 2.5}, {0, 1}).worst, 0.5);
  const Distance out = distance({1, 2}, {1, 2.5}, {0, 0.25});
  EXPECT_EQ(out.out, 1);
  EXPECT_EQ(out.worst, 2.0);
  EXPECT_EQ(out.first, "element 1: got 2, needs 2.5 within 0.25");
  EXPECT_EQ(distance({kNan}, {1}, {1}).out, 1);
  EXPECT_EQ(distance({1}, {kNan}, {1}).out, 1);
  EXPECT_EQ(distance({1}, {1.5}, {kNan}).out, 1);
  EXPECT_EQ(distance({kNan}, {1}, {1}).worst, kInf);
  EXPECT_EQ(distance({1}, {2}, {0}).worst, kInf);
  EXPECT_EQ(distance({kInf}, {kInf}, {0}).out, 0);
  EXPECT_EQ(distance({kInf}, {-kInf}, {1}).out, 1);
}

TEST(Reference, ConvolutionByTheDefinition) {
  // x 1 2 3 4, w 1 10: a window of two with a stride of 2 and one of padding on each side.
  ConvProblem p;
  p.in[2] = 4;
  p.filter[2] = 2;
  p.pad[2] = 1;
  p.stride[2] = 2;
  const Values x = {1, 2, 3, 4};
  const Values w = {1, 10};
  const Values dy = {1, 2, 3};
  EXPECT_EQ(convolution(ConvPass::fprop, p, x, w), (Values{10, 32, 4}));
  EXPECT_EQ(convolution(ConvPass::bprop, p, dy, w), (Values{10, 2, 20, 3}));
  EXPECT_EQ(convolution(ConvPass::update, p, dy, x), (Values{2 * 2 + 3 * 4, 1 * 1 + 2 * 3}));
}

// The three passes are one trilinear form: sum y(x, w) dy = sum x dx(dy, w) = sum w dw(dy, x). In every layout.
TEST(Reference, PassesAreAdjoint) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const ConvProblem p = random_conv(random, 3e4);
    const Values x = integers(random, p.x_elements(), 3, Dtype::float32);
    const Values w = integers(random, p.w_elements(), 3, Dtype::float32);
    const Values dy = integers(random, p.y_elements(), 3, Dtype::float32);
    const auto dot = [](const Values& a, const Values& b) {
      double sum = 0;
      for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
      return sum;
    };
    const double by_y = dot(convolution(ConvPass::fprop, p, x, w), dy);
    EXPECT_EQ(dot(convolution(ConvPass::bprop, p, dy, w), x), by_y) << text_of(p);
    EXPECT_EQ(dot(convolution(ConvPass::update, p, dy, x), w), by_y) << text_of(p);
  }
}

TEST(Reference, LayoutsAreInverse) {
  Values first(24);
  for (std::size_t i = 0; i < first.size(); ++i) first[i] = static_cast<double>(i);
  EXPECT_EQ(from_first(first, Layout::channels_last, 2, 3, 4)[1], 4.0);   // (0, 0, 1): the next channel
  EXPECT_EQ(from_first(first, Layout::batch_last, 2, 3, 4)[1], 12.0);     // the next image
  EXPECT_EQ(from_first(first, Layout::channels_first, 2, 3, 4)[1], 1.0);  // the next place
  for (const Layout l : {Layout::channels_last, Layout::batch_last, Layout::channels_first}) {
    EXPECT_EQ(to_first(from_first(first, l, 2, 3, 4), l, 2, 3, 4), first);
  }
}

TEST(Buffer, SeesWhatIsWrong) {
  const Buffer b({1, 2, -0.0}, Dtype::float32, 4);
  EXPECT_EQ(difference(b, encode({1, 2, 0}, Dtype::float32), Dtype::float32), "");
  EXPECT_EQ(difference(b, encode({1, 3, 0}, Dtype::float32), Dtype::float32),
            "element 1 of 3: got 2.000000, needs 3.000000");
  EXPECT_NE(difference(Buffer::poisoned(4), encode({1}, Dtype::float32), Dtype::float32), "");
  const std::uint8_t byte = 1;
  for (const std::int64_t at : {-1, 12}) {
    const Buffer c({1, 2, 3}, Dtype::float32);
    Tensor::wrap(c.address() + static_cast<std::uint64_t>(at), {1}, {1}, Dtype::uint8).set(&byte, 1);
    EXPECT_EQ(difference(c, encode({1, 2, 3}, Dtype::float32), Dtype::float32),
              "written outside: at byte " + std::to_string(at) + " of 12");
  }
}

TEST(Report, Json) {
  Report r;
  EXPECT_EQ(r.json(), "{\n  \"device\": \"\",\n  \"problems\": 0,\n  \"comparisons\": []\n}\n");
  r.set_commit("abc");
  EXPECT_EQ(r.json(), "{\n  \"device\": \"\",\n  \"commit\": \"abc\",\n  \"problems\": 0,\n  \"comparisons\": []\n}\n");
  r.set_commit("");
  r.set_device("a \"GPU\"");
  r.set_peer("cudnn", 91300);
  const Key key = {"conv", "float32", "fprop", "cudnn"};
  r.add(key, 10, 0.25, false);
  r.add(key, 5, 0.125, false);
  r.add_unsupported(key);
  r.add({"conv", "float32", "fprop", "float64"}, 10, kInf, true);
  EXPECT_EQ(r.problems("cudnn"), 2);
  EXPECT_EQ(r.json(),
            "{\n  \"device\": \"a \\\"GPU\\\"\",\n  \"cudnn\": 91300,\n  \"problems\": 2,\n  \"comparisons\": [\n"
            "    {\"op\": \"conv\", \"type\": \"float32\", \"pass\": \"fprop\", \"against\": \"cudnn\", "
            "\"problems\": 2, \"elements\": 15, \"unsupported\": 1, \"failed\": 0, \"worst\": 0.25},\n"
            "    {\"op\": \"conv\", \"type\": \"float32\", \"pass\": \"fprop\", \"against\": \"float64\", "
            "\"problems\": 1, \"elements\": 10, \"unsupported\": 0, \"failed\": 1, \"worst\": null}\n  ]\n}\n");
}

TEST(Report, IsWritten) {
  const Report r;
  const auto path = std::filesystem::temp_directory_path() / ("report_" + std::to_string(std::rand()) + ".json");
  r.write(path.string());
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), r.json());
  std::filesystem::remove(path);
  EXPECT_THROW(r.write("/no/such/folder/x.json"), std::runtime_error);
}

TEST(PeerLibrary, IsLookedFor) {
  EXPECT_EQ(library_folders("a:/b c::d:"), (std::vector<std::string>{"a", "/b c", "d"}));
  EXPECT_TRUE(library_folders(nullptr).empty());
  EXPECT_TRUE(library_folders("").empty());
  const PeerLibrary none = open_library({"libnervanagpu_peer_that_is_not_there.so.1"}, {"/no/such/folder"});
  EXPECT_EQ(none.handle, nullptr);
  EXPECT_NE(none.why.find("no libnervanagpu_peer_that_is_not_there.so.1 in 1 folders"), std::string::npos) << none.why;
  const PeerLibrary some = open_library({"libnervanagpu_peer_that_is_not_there.so.1", "libdl.so.2"}, {});
  EXPECT_NE(some.handle, nullptr) << some.why;
  EXPECT_EQ(some.path, "libdl.so.2");
}

}  // namespace
}  // namespace nervanagpu::gpu_test

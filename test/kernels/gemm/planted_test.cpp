// Bugs planted into the encoded kernel, one at a time: the suite's checks must see them. A check that cannot fail is none.
#include <gtest/gtest.h>

#include <functional>

#include "nervanagpu/error.hpp"
#include "sass/isa/codec/codec.h"
#include "src/device/emulator_device.h"
#include "src/device/select_device.h"
#include "src/module/unpack.h"
#include "test/kernels/gemm/gemm_case.h"

namespace nervanagpu {
namespace {

using sass::KernelImage;
using sass::Word;

constexpr sass::Arch kArch = sass::Arch::sm_90a;

std::string text_of(const Word& word, std::size_t index) {
  const sass::Result<sass::Inst> inst = sass::decode(kArch, word, index * 16);
  return inst.ok() ? sass::print(*inst) : std::string();
}

// Instructions of `image` whose text has `what` in it.
std::vector<std::size_t> places(const KernelImage& image, const std::string& what) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < image.code.size(); ++i) {
    if (text_of(image.code[i], i).find(what) != std::string::npos) out.push_back(i);
  }
  return out;
}

Word assembled(const std::string& text, std::size_t index, const sass::Control& control) {
  const sass::Result<sass::ParsedInst> parsed = sass::parse_inst(kArch, text, {});
  if (!parsed.ok()) throw Error(parsed.error().text());
  const sass::Result<Word> word = sass::encode(kArch, parsed->inst, index * 16);
  if (!word.ok()) throw Error(word.error().text());
  return sass::put_control(*word, control);
}

// Another instruction under the same stalls and scoreboards.
void replace(KernelImage& image, std::size_t i, const std::string& text) {
  sass::Control control = sass::get_control(image.code[i]);
  control.reuse = 0;
  image.code[i] = assembled(text, i, control);
}

template <class F>
void change_control(KernelImage& image, std::size_t i, const F& change) {
  sass::Control control = sass::get_control(image.code[i]);
  change(control);
  image.code[i] = sass::put_control(image.code[i], control);
}

struct Size {
  std::int64_t m, n, k, pad;
};

class PlantedTest : public ::testing::Test {
 protected:
  PlantedTest() {
    const EmbeddedCubin& cubin = embedded_cubins().front();
    Unpacker unpack;
    const std::span<const unsigned char> bytes = unpack(cubin);
    sass::Result<sass::CubinImage> read = sass::read_cubin(bytes.data(), bytes.size());
    if (!read.ok()) throw Error(read.error().text());
    for (KernelImage& image : read->kernels) {
      if (image.name == "sgemm_nn_64x64_11") good_ = std::move(image);
    }
    if (good_.name.empty()) throw Error("there is no sgemm_nn_64x64_11");
  }

  // What the suite says of the kernel after `plant`: "" if it sees nothing.
  std::string verdict(const std::function<void(KernelImage&)>& plant, bool checked,
                      const std::vector<Size>& sizes = {{64, 64, 64, 4}, {65, 67, 41, 3}}) {
    KernelImage image = good_;
    plant(image);
    const sass::Result<std::vector<std::uint8_t>> bytes = sass::write_cubin({kArch, {image}});
    if (!bytes.ok()) throw Error(bytes.error().text());
    const EmbeddedCubin cubin{"sgemm.sm_90a", bytes->data(), bytes->size()};
    EmulatorDevice device({&cubin, 1}, kArch, checked, std::size_t{1} << 28);
    Device* before = exchange_device(&device);
    std::string out;
    try {
      std::mt19937 random(3);
      for (const auto& [m, n, k, pad] : sizes) {
        const test::GemmCase c(random, m, n, k, false, false, pad, {2, 1, 1, false});
        out = c.judge(device, sgemm::choose(device.registry(), 132, c.problem()));
        if (!out.empty()) break;
      }
    } catch (const CheckError& e) {
      out = e.findings().front().what;
    }
    exchange_device(before);
    return out;
  }

  KernelImage good_;
};

TEST_F(PlantedTest, TheKernelItselfIsRight) {
  EXPECT_EQ(verdict([](KernelImage&) {}, false), "");
  EXPECT_EQ(verdict([](KernelImage&) {}, true), "");
}

TEST_F(PlantedTest, AMissingBarrierIsARace) {
  const std::vector<std::size_t> barriers = places(good_, "BAR.SYNC");
  ASSERT_FALSE(barriers.empty());
  for (const std::size_t i : barriers) {
    const std::string found = verdict([i](KernelImage& k) { replace(k, i, "NOP"); }, true);
    // The barrier may be what tells the other warps that a copy has come.
    EXPECT_TRUE(found == "shared-memory race" || found == "asynchronous copy not awaited") << found << " at " << i;
  }
}

TEST_F(PlantedTest, AStoreThatIsMissingLeavesPoison) {
  int seen = 0;
  const std::vector<std::size_t> stores = places(good_, "STG.E");
  ASSERT_FALSE(stores.empty());
  for (const std::size_t i : stores) {
    seen += verdict([i](KernelImage& k) { replace(k, i, "NOP"); }, false).empty() ? 0 : 1;
  }
  EXPECT_EQ(seen, static_cast<int>(stores.size()));
}

TEST_F(PlantedTest, AMissingMultiplicationIsSeen) {
  const std::vector<std::size_t> products = places(good_, "FFMA");
  ASSERT_GE(products.size(), 256U);
  for (std::size_t n = 0; n < products.size(); n += 37) {
    const std::size_t i = products[n];
    EXPECT_NE(verdict([i](KernelImage& k) { replace(k, i, "NOP"); }, false), "") << text_of(good_.code[i], i);
  }
}

// Every comparison of the kernel in turn, off by one. Most limits stand in several comparisons of one lane, of which a
// given size meets few; the sizes are tails of every length.
TEST_F(PlantedTest, AnOffByOneTailIsSeen) {
  const std::pair<const char*, const char*> swaps[] = {
      {".GE.", ".GT."}, {".GT.", ".GE."}, {".LT.", ".LE."}, {".LE.", ".LT."}};
  const std::vector<Size> tails = {{13, 13, 1, 3}, {14, 14, 7, 3}, {15, 15, 8, 3}, {16, 16, 9, 3}, {16, 16, 9, 4}};
  int tried = 0;
  int seen = 0;
  for (const std::size_t i : places(good_, "ISETP")) {
    const std::string text = text_of(good_.code[i], i);
    for (const auto& [from, to] : swaps) {
      const std::size_t at = text.find(from);
      if (at == std::string::npos) continue;
      ++tried;
      const std::string changed = text.substr(0, at) + to + text.substr(at + 4);
      seen += verdict([&](KernelImage& k) { replace(k, i, changed); }, true, tails).empty() ? 0 : 1;
      break;
    }
  }
  EXPECT_GE(tried, 10);
  EXPECT_GE(seen, 10) << "of " << tried;
}

// Producers of addresses and fragments only: a loop whose counter is poison may run for ever.
TEST_F(PlantedTest, AStallThatIsTooShortIsSeen) {
  int tried = 0;
  int seen = 0;
  for (std::size_t i = 0; i < good_.code.size() && tried < 24; ++i) {
    const std::string text = text_of(good_.code[i], i);
    const bool address = text.rfind("IMAD ", 0) == 0 || text.rfind("LEA ", 0) == 0 || text.rfind("LOP3", 0) == 0;
    if (!address || sass::get_control(good_.code[i]).stall < 4) continue;
    ++tried;
    const auto plant = [i](KernelImage& k) { change_control(k, i, [](sass::Control& c) { c.stall = 1; }); };
    seen += verdict(plant, true, {{64, 64, 24, 4}}) == "read before ready" ? 1 : 0;
  }
  EXPECT_GE(tried, 4);
  EXPECT_GE(seen * 4, tried * 3) << seen << " of " << tried;
}

// A wait is redundant where a younger load of the same in-order queue has been awaited already: not all are seen.
TEST_F(PlantedTest, AFragmentThatIsNotAwaitedIsSeen) {
  int tried = 0;
  int seen = 0;
  for (std::size_t i = 0; i < good_.code.size() && tried < 12; ++i) {
    if (text_of(good_.code[i], i).rfind("FFMA", 0) != 0 || sass::get_control(good_.code[i]).wait == 0) continue;
    ++tried;
    const auto plant = [i](KernelImage& k) { change_control(k, i, [](sass::Control& c) { c.wait = 0; }); };
    seen += verdict(plant, true, {{64, 64, 24, 4}}) == "read before ready" ? 1 : 0;
  }
  EXPECT_GE(tried, 4);
  EXPECT_GE(seen * 2, tried) << seen << " of " << tried;
}

}  // namespace
}  // namespace nervanagpu

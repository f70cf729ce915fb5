// The copy engine of the emulator is the chip's: what an H200 did is in test/data/digests/tma.txt. On a GPU
// (NERVANAGPU_DEVICE=cuda) both run every case, and every byte is compared; NERVANAGPU_TMA_RECORD=DIR writes the digests there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "nervanagpu/error.hpp"
#include "src/device/emulator_device.h"
#include "src/device/select_device.h"
#include "test/tma/runner.h"

namespace nervanagpu::test {
namespace {

constexpr std::size_t kMemory = 64 << 20;

std::uint64_t digest(std::uint64_t h, const std::vector<std::byte>& bytes) {
  for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t v = 0;
    std::memcpy(&v, bytes.data() + i, 8);
    h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
    h ^= h >> 29;
  }
  return h;
}

std::string text_of(const TmaCase& c) {
  std::ostringstream o;
  const TensorMap& m = c.map;
  const auto list = [&](const char* name, const auto& values, std::size_t n) {
    o << " " << name << "=";
    for (std::size_t i = 0; i < n; ++i) o << (i == 0 ? "" : ",") << +values[i];
  };
  o << (c.load ? "load" : kTmaOps[c.op]) << " " << name_of(m.type);
  list("sizes", m.sizes, m.rank);
  list("strides", m.strides, m.rank - 1);
  if (m.im2col) {
    list("lower", m.im2col->lower, m.rank - 2);
    list("upper", m.im2col->upper, m.rank - 2);
    o << " channels=" << m.im2col->channels << " pixels=" << m.im2col->pixels;
    list("offsets", c.offsets, m.rank - 2);
  } else {
    list("box", m.box, m.rank);
  }
  list("steps", m.steps, m.rank);
  list("at", c.at, m.rank);
  o << " swizzle=" << static_cast<int>(m.swizzle) << " fill=" << static_cast<int>(m.fill) << " shared=" << c.shared;
  return o.str();
}

std::string number_text(unsigned i) {
  return "case " + std::to_string(i);
}

std::string hex(std::uint64_t v) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(v));
  return text;
}

// What the chip did with a case: "lost" if it ended the context, else a digest. Or with the kTmaTogether from it on, which
// it takes all: the digest of their digests.
struct Recorded {
  unsigned number = 0;
  std::string result;
};

std::vector<Recorded> recorded(const std::string& group) {
  std::vector<Recorded> out;
  std::ifstream file(NG_SOURCE_DIR "/test/data/digests/tma.txt");
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream in(line);
    std::string name;
    Recorded r;
    if (in >> name >> r.number >> r.result && name == group) out.push_back(r);
  }
  return out;
}

// The result, or "lost" where the emulator ends the grid.
std::string result_of(TmaRunner& runner, const TmaCase& c) {
  try {
    return hex(digest(0, runner.run(c)));
  } catch (const CheckError&) {
    return "lost";
  }
}

std::uint64_t with(std::uint64_t all, std::uint64_t one) {
  std::vector<std::byte> bytes(8);
  std::memcpy(bytes.data(), &one, 8);
  return digest(all, bytes);
}

class TmaGroupTest : public ::testing::TestWithParam<TmaGroup> {};

TEST_P(TmaGroupTest, TheEmulatorDoesWhatTheChipDid) {
  const std::vector<Recorded> all = recorded(GetParam().name);
  ASSERT_FALSE(all.empty());
  EmulatorDevice device(embedded_cubins(), sass::Arch::sm_90a, false, kMemory);
  TmaRunner runner(device);
  for (const Recorded& r : all) {
    const TmaCase c = tma_case(GetParam().name, r.number);
    if (r.number < kTmaLegal) {
      EXPECT_EQ(result_of(runner, c), r.result) << number_text(r.number) << ": " << text_of(c);
      continue;
    }
    std::uint64_t together = 0;
    for (unsigned i = 0; i < kTmaTogether; ++i) {
      together = with(together, digest(0, runner.run(tma_case(GetParam().name, r.number + i))));
    }
    EXPECT_EQ(hex(together), r.result) << "cases from " << r.number << " on";
  }
}

TEST_P(TmaGroupTest, CheckedModeFindsNothing) {
  EmulatorDevice fast(embedded_cubins(), sass::Arch::sm_90a, false, kMemory);
  EmulatorDevice checked(embedded_cubins(), sass::Arch::sm_90a, true, kMemory);
  TmaRunner one(fast);
  TmaRunner other(checked);
  for (unsigned i = kTmaLegal; i < kTmaLegal + 50; ++i) {
    const TmaCase c = tma_case(GetParam().name, i);
    ASSERT_EQ(one.run(c), other.run(c)) << number_text(i) << ": " << text_of(c);
  }
}

// What a record has: the lines of digests/tma.txt, and the bytes of the first cases that differ. One that ends the GPU's
// context gets "number lost"; NERVANAGPU_TMA_FIRST goes on after it, in another process.
class Record {
 public:
  explicit Record(const char* group) : group_(group) {
    const char* folder = std::getenv("NERVANAGPU_TMA_RECORD");
    if (folder == nullptr) return;
    base_ = std::string(folder) + "/" + group;
    lines_.open(base_ + ".txt", std::ios::app);
  }
  void lost(unsigned number) { line(number, "lost"); }
  void did(unsigned number, std::uint64_t one) {
    together_ = with(number % kTmaTogether == 0 ? 0 : together_, one);
    if ((number + 1) % kTmaTogether == 0) line(number + 1 - kTmaTogether, hex(together_));
  }
  void bytes(unsigned number, const std::vector<std::byte>& all) {
    if (!lines_.is_open() || ++kept_ > 12) return;
    std::ofstream(base_ + "." + std::to_string(number), std::ios::binary)
        .write(reinterpret_cast<const char*>(all.data()), static_cast<std::streamsize>(all.size()));
  }

 private:
  void line(unsigned number, const std::string& text) {
    if (lines_.is_open()) lines_ << group_ << " " << number << " " << text << std::endl;
  }

  std::string group_, base_;
  std::ofstream lines_;
  std::uint64_t together_ = 0;
  unsigned kept_ = 0;
};

TEST_P(TmaGroupTest, OnAChipEveryByteIsTheEmulators) {
  Device& chip = current_device();
  if (chip.info().kind != DeviceKind::cuda) GTEST_SKIP() << "needs a GPU";
  EmulatorDevice emulator(embedded_cubins(), sass::Arch::sm_90a, false, kMemory);
  TmaRunner here(emulator);
  TmaRunner there(chip);
  Record record(GetParam().name);
  const char* first = std::getenv("NERVANAGPU_TMA_FIRST");
  unsigned differ = 0;
  for (unsigned i = first == nullptr ? kTmaLegal : static_cast<unsigned>(std::atoi(first));
       i < kTmaLegal + GetParam().count; ++i) {
    const TmaCase c = tma_case(GetParam().name, i);
    std::vector<std::byte> got;
    try {
      got = there.run(c);
    } catch (const Error& e) {
      record.lost(i);
      FAIL() << number_text(i) << ": " << text_of(c) << "\n" << e.what();
    }
    record.did(i, digest(0, got));
    const std::vector<std::byte> want = here.run(c);
    if (got == want) continue;
    if (++differ <= 12) {
      const auto at = std::mismatch(got.begin(), got.end(), want.begin()).first - got.begin();
      std::printf("%s %u: first at %td: %s\n", GetParam().name, i, at, text_of(c).c_str());
    }
    record.bytes(i, got);
  }
  EXPECT_EQ(differ, 0U);
}

INSTANTIATE_TEST_SUITE_P(Groups, TmaGroupTest, ::testing::ValuesIn(kTmaGroups),
                         [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace nervanagpu::test

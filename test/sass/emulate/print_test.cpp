// printf: the formats against the host's, and whole kernels that ptxas compiled (test/data/emulate/prints.cu).
#include <bit>
#include <cstdio>

#include "sass/emulate/ops/control/print_format.h"
#include "test/sass/emulate/program_fixture.h"

namespace nervanagpu::sass::emulate::testing {
namespace {

// Arguments as a caller packs them, at address 0; strings from kStrings on.
class Packed final : public PrintMemory {
 public:
  static constexpr std::uint64_t kStrings = 0x1000;

  Packed() = default;
  template <class... Args>
  explicit Packed(Args... args) {
    (add(args), ...);
  }
  bool number(std::uint64_t address, unsigned bytes, std::uint64_t& value) override {
    if (address + bytes > bytes_.size()) return false;
    value = 0;
    std::memcpy(&value, bytes_.data() + address, bytes);
    return true;
  }
  bool text(std::uint64_t address, std::string& out) override {
    if (address < kStrings || address - kStrings >= strings_.size()) return false;
    out += strings_.c_str() + (address - kStrings);
    return true;
  }

 private:
  void add(char c) { add(static_cast<int>(c)); }  // as an argument of a variable number of them is
  template <class T>
  void add(T v) {
    bytes_.resize((bytes_.size() + sizeof v - 1) / sizeof v * sizeof v);
    bytes_.resize(bytes_.size() + sizeof v);
    std::memcpy(bytes_.data() + bytes_.size() - sizeof v, &v, sizeof v);
  }
  void add(const char* text) {
    add(kStrings + strings_.size());
    strings_ += text;
    strings_ += '\0';
  }

  std::vector<std::byte> bytes_;
  std::string strings_;
};

template <class... Args>
void expect_same(const char* format, Args... args) {
  char want[512];
  const int n = std::snprintf(want, sizeof want, format, args...);
  ASSERT_TRUE(n >= 0 && n < static_cast<int>(sizeof want));
  Packed memory(args...);
  const Printed got = print_format(format, 0, memory);
  EXPECT_EQ(got.text, want) << format;
  EXPECT_EQ(got.arguments, sizeof...(args)) << format;
}

TEST(PrintFormat, AsTheHostPrints) {
  expect_same("%d|%i|%5d|%-5d|%05d|%+d|% d", 1, -2, 3, -4, 5, 6, -7);
  expect_same("%u|%o|%x|%X|%#x|%#o", ~0U, 8U, 0xabcU, 0xabcU, 255U, 8U);
  expect_same("%hhd|%hd|%hhu|%hu", -300, -70000, 300, 70000);
  expect_same("%ld|%lld|%llx|%zu|%jd|%td|%lu", -1L, -2LL, ~0ULL, std::size_t{9}, std::intmax_t{-5}, std::ptrdiff_t{-6},
              7UL);
  expect_same("%d %lld %d %f %d", 1, 2LL, 3, 4.5, 5);  // eight bytes begin at a multiple of eight
  expect_same("%f|%.0f|%10.3f|%-10.2e|%G|%a|%g", 1.5, 2.5, -3.25, 1e10, 1e-10, 0.75, -HUGE_VAL);
  expect_same("%c%c|%3c", 'a', 'b', 'c');
  expect_same("%s|%8s|%-8s|%.2s", "one", "two", "three", "four");
  expect_same("%*d|%-*d|%.*f|%*s", 6, 1, 6, 2, 3, 3.14159, 5, "x");
  expect_same("%*d|%.*d", -6, 1, -1, 2);
  expect_same("100%% %d%%", 5);
  expect_same("%p", reinterpret_cast<void*>(0x7000'0000'1234));
}

TEST(PrintFormat, WhatIsNoConversionStands) {
  Packed none;
  EXPECT_EQ(print_format("50%! of %y %", 0, none).text, "50%! of %y %");
  EXPECT_EQ(print_format("%5", 0, none).text, "%5");
  EXPECT_EQ(print_format("%l", 0, none).text, "%l");
  Packed two(std::uint64_t{0}, 5);
  EXPECT_EQ(print_format("%n%d", 0, two).text, "5");
  Packed null(std::uint64_t{0});
  EXPECT_EQ(print_format("<%s>", 0, null).text, "<(null)>");
}

TEST(PrintFormat, MissingArgumentsEndIt) {
  Packed one(4);
  const Printed p = print_format("%d %d after", 0, one);
  EXPECT_EQ(p.text, "4 ");
  EXPECT_EQ(p.arguments, 1U);
  Packed bad(std::uint64_t{Packed::kStrings + 100});
  EXPECT_EQ(print_format("a %s b", 0, bad).text, "a ");
}

TEST(PrintFormat, WidthsHaveABound) {
  Packed args(1, std::int32_t{0x7fffffff}, 2);
  EXPECT_LE(print_format("%999999999999d", 0, args).text.size(), 65536U);
  EXPECT_LE(print_format("%d%*d", 0, args).text.size(), 65537U);
}

class Prints : public ::testing::TestWithParam<Setting> {
 protected:
  // What a kernel of prints.ARCH.cubin or stack.ARCH.cubin prints; faults and findings go to `said`.
  std::string launch(const std::string& file, const std::string& name, std::uint32_t threads, const Params& params) {
    const CubinImage cubin = read_file(file + "." + std::string(info(GetParam().arch).name) + ".cubin");
    const auto module = Module::load(cubin, memory_);
    std::string printed;
    for (const KernelImage& k : cubin.kernels) {
      if (k.name != name || !module.ok()) continue;
      const auto kernel = (*module)->kernel(k);
      EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? "" : kernel.error().text());
      if (!kernel.ok()) return {};
      const auto print = [&](std::string_view text) { printed += text; };
      const Result<Report> report = run(**kernel, memory_,
                                        {.grid = {1, 1, 1},
                                         .block = {threads, 1, 1},
                                         .params = params.bytes(),
                                         .mode = GetParam().mode,
                                         .print = print});
      said_ = report.ok() ? "" : report.error().text();
      if (report.ok()) {
        for (const Finding& f : report->findings) said_ += f.text();
      }
    }
    return printed;
  }

  Memory memory_{std::size_t{1} << 20};
  std::string said_;
};

std::string line(const char* format, auto... args) {
  char text[256];
  std::snprintf(text, sizeof text, format, args...);
  return text;
}

TEST_P(Prints, StringsOfEveryMemory) {
  constexpr int kThreads = 5;
  const long long n = 30'000'000'000;
  Buffer<int> out(memory_, std::size_t{kThreads});
  std::string want;
  for (int t = 0; t < kThreads; ++t) {
    want += line("%d %lld %f %x %c %p %% %s|%5.2e|%-6d|%s%d|%s\n", t, n * t, t * 0.5, t * 77, 'a' + t,
                 std::bit_cast<void*>(out.address()), "global", 3.25 * t, t, "local", t, "sh");
  }
  want += "odd 1\nodd 3\nplain\n";
  for (int t = 0; t < kThreads; ++t) want += line("constant %d literal\n", t);
  for (int t = 0; t < kThreads; ++t) want += line(t < 2 ? "low %d\n" : "high %+d\n", t);
  EXPECT_EQ(launch("prints", "prints", kThreads, Params().add(n).add(out.address())), want);
  EXPECT_EQ(said_, "");
  EXPECT_EQ(out.get(), std::vector<int>(kThreads, 11));
}

TEST_P(Prints, AStringThatIsNowhereIsNamed) {
  launch("prints", "prints_nowhere", 1, Params().add(std::uint64_t{0x123456789000}));
  EXPECT_NE(said_.find("out of bounds: 1-byte load at 0x123456789000"), std::string::npos) << said_;
}

TEST_P(Prints, StacksOfUnknownDepth) {
  Buffer<int> out(memory_, std::size_t{4});
  launch("stack", "recursive", 4, Params().add(9).add(out.address()));
  EXPECT_EQ(said_, "");
  EXPECT_EQ(out.get(), (std::vector<int>{34, 55, 89, 34}));
  Buffer<int> a(memory_, std::vector<int>{3, 2, 1, 0, 4, 4, -1});
  launch("stack", "of_run_time_size", 1, Params().add(6).add(a.address()));
  EXPECT_EQ(said_, "");
  EXPECT_EQ(a.get().back(), 0 + 1 + 2 + 3 + 4 + 4);
}

INSTANTIATE_TEST_SUITE_P(On, Prints,
                         ::testing::Values(Setting{Mode::kFast, Arch::sm_52}, Setting{Mode::kChecked, Arch::sm_52},
                                           Setting{Mode::kFast, Arch::sm_80}, Setting{Mode::kChecked, Arch::sm_80},
                                           Setting{Mode::kFast, Arch::sm_90a}, Setting{Mode::kChecked, Arch::sm_90a}),
                         [](const auto& info) { return setting_name(info.param); });

}  // namespace
}  // namespace nervanagpu::sass::emulate::testing

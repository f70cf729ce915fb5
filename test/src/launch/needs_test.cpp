// What kernels say they need is checked before every launch: for each condition of each kernel a launch is found that violates
// it, and is refused for it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <random>
#include <set>
#include <string_view>

#include "nervanagpu/error.hpp"
#include "nervanagpu/module.hpp"
#include "test/forwarding_device.h"
#include "test/src/expect_error.h"
#include "test/src/launch/needs_search.h"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

using sass::Condition;
using sass::LaunchSize;
using sass::Param;
using sass::ParamType;

constexpr std::array kArchs = {sass::Arch::sm_90a, sass::Arch::sm_80, sass::Arch::sm_52};

// Any value is as good as any other.
bool is_free(std::string_view name) {
  static const std::set<std::string_view> kFree = {"seed", "counter", "round_offset", "c0",  "ci_n",
                                                   "cj",   "gc",      "order",        "cs",  "tall",
                                                   "fold", "up",      "cap",          "add", "nothing"};
  const auto begins = [&](std::string_view s) { return name.substr(0, s.size()) == s; };
  const auto ends = [&](std::string_view s) {
    return name.size() > s.size() && name.substr(name.size() - s.size()) == s;
  };
  // Magic numbers of divisors, coordinates of windows, offsets of a convolution, strides that any number may be and what makes
  // the order of keys.
  return kFree.count(name) != 0 || ends("_mul") || ends("_shift") || begins("org_") || begins("mi_") || begins("ml_") ||
         begins("o_") || begins("ci_") || begins("x_") || begins("y_") || begins("nb") || name == "ni" ||
         begins("flip") || begins("pad");
}
bool is_number(ParamType t) {
  return t != ParamType::f32 && t != ParamType::map;
}

TEST(Needs, EveryKernelHasThemForEveryParameter) {
  for (const sass::Arch arch : kArchs) {
    const Registry registry(embedded_cubins(), arch);
    std::map<std::string, std::set<std::string>> missing;  // by operation: in none of its variants
    std::map<std::string, std::set<std::string>> asked;
    for (const Kernel& k : registry.kernels()) {
      EXPECT_FALSE(k.needs.empty()) << k.name();
      for (const Condition& c : k.needs) {
        for (const std::size_t i : c.params()) asked[k.manifest().op].insert(k.manifest().params[i].name);
      }
      for (const Param& p : k.manifest().params) {
        if (is_number(p.type) && !is_free(p.name)) missing[k.manifest().op].insert(p.name);
      }
    }
    for (auto& [op, names] : missing) {
      for (const std::string& name : asked[op]) names.erase(name);
      for (const std::string& name : names) ADD_FAILURE() << op << ": no condition asks for " << name;
    }
  }
}

// Notes what would have been launched.
class Refuses : public test::ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  std::size_t started = 0;

 private:
  void start(const Kernel&, const Grid&, std::span<const std::byte>, StreamId) override { ++started; }
};

// What violates each need, in order: the launch, and whether it fulfils all others.
struct Violation {
  std::vector<std::byte> block;  // empty: none was found
  LaunchSize size;
  bool alone = false;
};
struct Violations {
  std::optional<test::NeedsSearch::Values> good;
  std::vector<Violation> each;
};
Violations violations_of(const Kernel& k, std::mt19937& random) {
  constexpr int kTurns = 4;  // of a search at random, which may miss
  test::NeedsSearch search(k, random);
  Violations out{search.good(), {}};
  for (std::size_t i = 0; out.good && i < k.needs.size(); ++i) {
    auto found = search.violation(*out.good, i);
    const bool alone = found.has_value();
    for (int turn = 0; turn < kTurns && !found; ++turn) found = search.first_violation(*out.good, i);
    Violation& v = out.each.emplace_back();
    if (!found) continue;
    v = {search.block(*found), search.size(*found), alone};
    for (std::size_t j = 0; j < k.needs.size(); ++j) {  // two readings of one text
      EXPECT_EQ(k.needs[j].holds(v.block, v.size), search.tree(j).holds(*found))
          << k.name() << ": " << k.needs[j].text();
    }
  }
  return out;
}
// Variants and architectures that need the same share what was found for one of them.
std::string key_of(const Kernel& k) {
  std::string out;
  for (const Param& p : k.manifest().params) out += p.name + std::to_string(p.offset) + " ";
  for (const Condition& c : k.needs) out += c.text() + ", ";
  return out;
}

TEST(Needs, EveryViolationIsRefused) {
  std::mt19937 random(5);
  std::map<std::string, Violations> known;
  std::size_t conditions = 0;
  std::size_t alone = 0;
  std::set<std::string> none;
  for (const sass::Arch arch : kArchs) {
    EmulatorDevice emulator(embedded_cubins(), arch, false, std::size_t{1} << 24);
    Refuses device(emulator);
    for (const Kernel& k : device.registry().kernels()) {
      const auto [found, first] = known.try_emplace(key_of(k));
      if (first) found->second = violations_of(k, random);
      const Violations& bad = found->second;
      EXPECT_TRUE(bad.good) << k.name() << ": no launch that fulfils all was found";
      for (std::size_t i = 0; i < bad.each.size(); ++i) {
        const auto& [block, size, nothing_else] = bad.each[i];
        const std::string& need = k.needs[i].text();
        if (block.empty()) {
          none.insert(k.manifest().op + ": " + need);
          continue;
        }
        alone += nothing_else ? 1 : 0;
        try {
          device.launch(k, {size.x, size.y, size.z, size.cluster}, block, 0);
          ADD_FAILURE() << k.name() << " was launched against " << need;
        } catch (const Error& e) {
          const std::string begin = "kernel " + k.name() + " needs " + need + "; ";
          EXPECT_EQ(std::string(e.what()).substr(0, begin.size()), begin);
          EXPECT_NE(std::string(e.what()).find(" is ", begin.size()), std::string::npos) << e.what();
        }
        ++conditions;
      }
    }
    EXPECT_EQ(device.started, 0U);
  }
  EXPECT_GT(conditions, 5'000U);
  EXPECT_GT(alone, conditions / 4 * 3) << "of " << conditions;
  for (const std::string& need : none) ADD_FAILURE() << "those before it imply it, or the search is too weak: " << need;
}

// A name that is mistyped, anywhere in the conditions of any kernel, is an error at its column.
TEST(Needs, AChangedNameIsNoticed) {
  std::set<std::string> seen;
  std::size_t names = 0;
  for (const sass::Arch arch : kArchs) {
    const Registry registry(embedded_cubins(), arch);
    for (const Kernel& k : registry.kernels()) {
      for (const std::string& need : k.manifest().needs) {
        if (!seen.insert(k.manifest().op + need).second) continue;
        for (std::size_t i = 0; i < need.size(); ++i) {
          const auto is_word = [&](std::size_t at) {
            return at < need.size() && (std::isalnum(static_cast<unsigned char>(need[at])) != 0 || need[at] == '_');
          };
          if (std::isalpha(static_cast<unsigned char>(need[i])) == 0 || (i != 0 && is_word(i - 1))) continue;
          std::size_t end = i;
          while (is_word(end)) ++end;
          const auto changed = Condition::compile(need.substr(0, end) + "_" + need.substr(end), k.manifest());
          ASSERT_FALSE(changed.ok()) << k.name() << ": " << need << " at " << i;
          EXPECT_EQ(changed.error().at.col, i + 1) << need;
          ++names;
        }
      }
    }
  }
  EXPECT_GT(names, 500U);
}

class ModuleNeeds : public test::OnEmulator {};

constexpr const char* kText = R"(.kernel k
.arch   sm_90a
.param  u64 p
.param  u32 n
.threads 32
.needs  n % 4 == 0, aligned(p, 8), grid_x == n / 4
  EXIT
)";

TEST_F(ModuleNeeds, AreAskedOfAUsersKernel) {
  const Module m(Cubin::assemble(kText));
  const auto launch = [&](std::uint64_t p, std::uint32_t n, std::uint32_t grid) {
    m.launch("k", {grid}, {}, {Argument(p), Argument(std::uint64_t{n})});
  };
  const std::uint64_t checked = needs_checked;
  launch(16, 8, 2);
  expect_error<InvalidArgument>([&] { launch(16, 7, 1); }, "kernel k needs n % 4 == 0; n is 7");
  expect_error<InvalidArgument>([&] { launch(12, 8, 2); }, "kernel k needs aligned(p, 8); p is 12");
  expect_error<InvalidArgument>([&] { launch(16, 8, 3); }, "kernel k needs grid_x == n / 4; grid_x is 3, n is 8");
  EXPECT_EQ(needs_checked, checked + 4);
}

TEST_F(ModuleNeeds, OfACubinThatWasTamperedWithAreRefusedWhenItIsLoaded) {
  const Cubin good = Cubin::assemble(kText);
  std::vector<std::uint8_t> bytes(good.bytes().begin(), good.bytes().end());
  const std::string_view need = "n % 4 == 0";
  const auto at = std::search(bytes.begin(), bytes.end(), need.begin(), need.end());
  ASSERT_NE(at, bytes.end());
  *at = 'q';
  expect_error<InvalidArgument>(
      [&] { Module m(Cubin::read(bytes)); },
      "kernel k: .needs `q % 4 == 0`, column 1: there is no `q` that a condition could ask for\n  did you mean `p`?\n"
      "  names: p n grid_x grid_y grid_z cluster");
}

}  // namespace
}  // namespace nervanagpu

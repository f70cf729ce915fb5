// What kernels say they need is asked before every launch: for each condition of each kernel a launch is found that violates
// it, and is refused for it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string_view>

#include "nervanagpu/error.hpp"
#include "nervanagpu/module.hpp"
#include "test/src/expect_error.h"
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
  static const std::set<std::string_view> kFree = {"seed", "counter", "round_offset", "c0", "ci_n",
                                                   "cj",   "gc",      "order",        "cs", "tall"};
  const auto begins = [&](std::string_view s) { return name.substr(0, s.size()) == s; };
  const auto ends = [&](std::string_view s) {
    return name.size() > s.size() && name.substr(name.size() - s.size()) == s;
  };
  // Magic numbers of divisors, coordinates of windows, offsets of a convolution and strides that any number may be.
  return kFree.count(name) != 0 || ends("_mul") || ends("_shift") || begins("org_") || begins("mi_") || begins("ml_") ||
         begins("o_") || begins("ci_") || begins("x_") || begins("y_") || begins("nb") || name == "ni";
}
bool is_number(ParamType t) {
  return t != ParamType::f32 && t != ParamType::map;
}

// The parameters and the grid of a launch.
struct Launch {
  std::vector<std::byte> block;
  LaunchSize size;
};

class Search {
 public:
  Search(const Kernel& kernel, std::mt19937& random) : kernel_(kernel), random_(random) {
    std::set<std::int64_t> values = {
        0, 1, 2, 3, 4, 5, 8, 12, 15, 16, 17, 31, 32, 64, 1 << 20, (1 << 20) + 2, 0x7fffffff, 0x80000000, 0xffffffff};
    for (const Condition& c : kernel.needs) {
      for (const std::int64_t n : c.numbers()) values.insert({n - 1, n, n + 1, 2 * n, n / 2});
    }
    values_.assign(values.begin(), values.end());
  }

  // A launch that everything holds of, searched from several starts.
  bool good(Launch& at) {
    for (const std::int64_t start : {16, 1, 64, 16, 1, 1, 1, 1}) {
      begin(at, start);
      std::size_t left = unmet(at).size();
      for (int turn = 0; left != 0 && turn < 20'000; ++turn) {
        const std::vector<const Condition*> open = unmet(at);
        Launch next = at;
        change(next, *open[random_() % open.size()]);
        const std::size_t now = unmet(next).size();
        if (now > left && random_() % 64 != 0) continue;
        at = next;
        left = now;
      }
      if (left == 0) return true;
    }
    return false;
  }

  std::string left(const Launch& at) const {
    const auto open = unmet(at);
    return open.empty() ? "nothing" : open[0]->text() + "; " + open[0]->found(kernel_.manifest(), at.block, at.size);
  }

  // One that violates `c`, and nothing that is asked before it.
  bool violation(const Launch& from, const Condition& c, Launch& out) {
    // What is wrong: `c`, as long as it holds, and what comes before it and does not.
    const auto wrong = [&](const Launch& at) {
      std::vector<const Condition*> list = unmet(at);
      const auto own = std::ranges::find_if(list, [&](const Condition* x) { return x >= &c; });
      const bool violated = own != list.end() && *own == &c;
      list.erase(own, list.end());
      if (!violated) list.push_back(&c);
      return list;
    };
    for (int turn = 0; turn < 5'000; ++turn) {  // a few numbers at random, then step by step
      out = from;
      for (std::uint32_t i = random_() % 4 + 1; i != 0; --i) {
        const bool other = random_() % 4 == 0;  // that has to give way
        change(out, other ? kernel_.needs[random_() % kernel_.needs.size()] : c);
      }
      if (wrong(out).empty()) return true;
    }
    out = from;
    std::vector<const Condition*> left = wrong(out);
    for (int turn = 0; !left.empty() && turn < 50'000; ++turn) {
      Launch next = out;
      change(next, *left[random_() % left.size()]);
      if (random_() % 4 == 0) change(next, kernel_.needs[random_() % kernel_.needs.size()]);
      std::vector<const Condition*> now = wrong(next);
      if (now.size() > left.size() && random_() % 16 != 0) continue;
      out = next;
      left = std::move(now);
    }
    return left.empty();
  }

 private:
  std::vector<const Condition*> unmet(const Launch& at) const {
    std::vector<const Condition*> out;
    for (const Condition& c : kernel_.needs) {
      if (!c.holds(at.block, at.size)) out.push_back(&c);
    }
    return out;
  }
  // All numbers are `start`, all addresses well aligned.
  void begin(Launch& at, std::int64_t start) const {
    const auto& params = kernel_.manifest().params;
    at = {};
    at.block.assign(params.back().offset + sass::size_of(params.back().type), std::byte{0});
    for (const Param& p : params) set(at, p, p.type == ParamType::u64 ? 1 << 20 : start);
  }
  static void set(Launch& at, const Param& p, std::int64_t v) {
    if (is_number(p.type)) std::memcpy(at.block.data() + p.offset, &v, sass::size_of(p.type));
  }
  // Gives one thing that `c` asks for another value.
  void change(Launch& at, const Condition& c) {
    const std::int64_t value = values_[random_() % values_.size()];
    std::vector<std::uint32_t*> sizes;
    const auto asks = [&](const char* name, std::uint32_t& to) {
      if (c.text().find(name) != std::string::npos) sizes.push_back(&to);
    };
    asks("grid_x", at.size.x), asks("grid_y", at.size.y), asks("grid_z", at.size.z), asks("cluster", at.size.cluster);
    const std::vector<std::size_t> params = c.params();
    const std::size_t i = random_() % (params.size() + sizes.size());
    if (i < params.size()) return set(at, kernel_.manifest().params[params[i]], value);
    *sizes[i - params.size()] = static_cast<std::uint32_t>(value);
  }

  const Kernel& kernel_;
  std::mt19937& random_;
  std::vector<std::int64_t> values_;
};

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

// Variants and architectures that need the same share what was found for one of them.
struct Violations {
  std::string none;  // why there are none
  std::vector<Launch> each;
};
Violations violations_of(const Kernel& k, std::mt19937& random) {
  Search search(k, random);
  Launch good;
  if (!search.good(good)) return {"no launch that fulfils all was found; left is " + search.left(good), {}};
  Violations out;
  for (const Condition& c : k.needs) {
    out.each.emplace_back();
    if (!search.violation(good, c, out.each.back())) out.each.back().block.clear();
  }
  return out;
}
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
  std::set<std::string> missed;
  for (const sass::Arch arch : kArchs) {
    EmulatorDevice device(embedded_cubins(), arch, false, std::size_t{1} << 24);
    for (const Kernel& k : device.registry().kernels()) {
      const auto [found, first] = known.try_emplace(key_of(k));
      if (first) found->second = violations_of(k, random);
      const Violations& bad = found->second;
      if (!bad.none.empty()) {
        missed.insert(k.name() + ": " + bad.none);
        continue;
      }
      for (std::size_t i = 0; i < k.needs.size(); ++i) {
        if (bad.each[i].block.empty()) {  // the search is no proof that there is none
          missed.insert(k.manifest().op + ": " + k.needs[i].text());
          continue;
        }
        const LaunchSize& size = bad.each[i].size;
        const std::uint64_t before = kernels_launched;
        try {
          device.launch(k, {size.x, size.y, size.z, size.cluster}, bad.each[i].block, 0);
          ADD_FAILURE() << k.name() << " was launched against " << k.needs[i].text();
        } catch (const Error& e) {
          const std::string begin = "kernel " + k.name() + " needs " + k.needs[i].text() + "; ";
          EXPECT_EQ(std::string(e.what()).substr(0, begin.size()), begin);
          EXPECT_NE(std::string(e.what()).find(" is ", begin.size()), std::string::npos) << e.what();
        }
        EXPECT_EQ(kernels_launched, before);
        ++conditions;
      }
    }
  }
  EXPECT_GT(conditions, 5'000U);
  std::string all;
  for (const std::string& m : missed) all += "\n  " + m;
  EXPECT_LE(missed.size(), 40U) << "no violation was found of" << all;
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
  const std::uint64_t asked = needs_asked;
  launch(16, 8, 2);
  expect_error<InvalidArgument>([&] { launch(16, 7, 1); }, "kernel k needs n % 4 == 0; n is 7");
  expect_error<InvalidArgument>([&] { launch(12, 8, 2); }, "kernel k needs aligned(p, 8); p is 12");
  expect_error<InvalidArgument>([&] { launch(16, 8, 3); }, "kernel k needs grid_x == n / 4; grid_x is 3, n is 8");
  EXPECT_EQ(needs_asked, asked + 4);
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

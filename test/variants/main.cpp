// Every kernel of the library by name: random problems with exact results, each drawn for one kernel, which must be launched.
//
//   variants [--problems N] [--seconds S] [--first N] [--only TEXT] [--each N] [--threads T] [--json FILE] [--list 1]
//
// What a problem is follows from its number alone (on a GPU it is larger); number N is for kernel N of a fixed order, each kernel
// once and then those of products again. What never came up then has more problems drawn for it, up to eight a kernel.
//
//   --problems   how many; 0, the default: that order once
//   --first      the number of the first one, to see a failure again
//   --seconds    no problem begins later
//   --only       kernels of the operation TEXT or, if there is none, whose name has it; numbers are others then
//   --each       so many kernels of each operation, once each, and small problems; numbers are others then
//   --threads    problems at a time; the default is the host's cores on a GPU and 1 on the emulator
//   --json       what was launched, by kernel
//   --list 1     prints the kernels' names and ends
//
// A convolution is computed a second time, of random numbers: each element must be within the `.bound` of the kernel.
//
// The end is 1 if a result is wrong, if a problem's kernel was not launched, or if, where all had their turn, a kernel, a second
// and third tile of a CTA, or a feature of kFeatures never came up, or all errors of an operation were far below its bound.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "nervanagpu/device.hpp"
#include "src/device/select_device.h"
#include "test/variants/counting_device.h"
#include "test/variants/other.h"
#include "test/variants/product.h"

namespace nervanagpu::variants {
namespace {

struct Arguments {
  std::uint64_t problems = 0, first = 0, each = 0;
  double seconds = 1e9;
  unsigned threads = 0;
  std::string only, json;
  bool list = false;
};

constexpr const char* kFeatures[] = {"float32 result",
                                     "float16 result",
                                     "bfloat16 result",
                                     "int32 result",
                                     "int8 result",
                                     "float64 result",
                                     "int64 result",
                                     "beta",
                                     "bias by row",
                                     "bias by column",
                                     "scale by row",
                                     "scale by column",
                                     "relu",
                                     "relu first",
                                     "mask",
                                     "sums of rows",
                                     "sums of columns",
                                     "rounding at random",
                                     "parts of k",
                                     "tables",
                                     "group",
                                     "batch",
                                     "sum over a batch",
                                     "results side by side"};

using Clock = std::chrono::steady_clock;
using Features = std::map<std::string, std::map<std::string, std::int64_t>>;  // by operation

// Kernels in the order of the problems: a shuffle, so that any number of them are of all kinds.
std::vector<const Kernel*> order_of(const Registry& registry, const Arguments& arguments) {
  std::vector<const Kernel*> out;
  const bool operation = !registry.of_op(arguments.only).empty();
  for (const Kernel& k : registry.kernels()) {
    const bool named = k.name().find(arguments.only) != std::string::npos;
    if (operation ? k.manifest().op == arguments.only : named) out.push_back(&k);
  }
  std::shuffle(out.begin(), out.end(), Random(1));
  if (arguments.each != 0) {
    std::map<std::string, std::uint64_t> taken;
    std::erase_if(out, [&](const Kernel* k) { return ++taken[k->manifest().op] > arguments.each; });
    return out;
  }
  const std::vector<const Kernel*> all = out;
  std::ranges::copy_if(all, std::back_inserter(out), [](const Kernel* k) { return draws_products(*k); });
  return out;
}

Limits limits_of(Random& random, bool gpu, bool in_turn) {
  if (!gpu) return {3e6, 2e5, in_turn};
  // Now and then a result that has three tiles for each multiprocessor.
  constexpr std::uint64_t kLargeOf = 48;
  return random() % kLargeOf == 0 ? Limits{4e9, 1.4e7, in_turn} : Limits{1e9, 3e5, in_turn};
}

class Session {
 public:
  Session(CountingDevice& device, const Arguments& arguments)
      : device_(device), arguments_(arguments), order_(order_of(device.registry(), arguments)) {
    if (order_.empty()) throw std::invalid_argument("no kernel's name has " + arguments.only);
    for (const Kernel* k : order_) kernels_.insert(k);
    count_ = arguments.problems != 0 ? arguments.problems : order_.size();
  }

  int run() {
    const bool gpu = device_.info().kind == DeviceKind::cuda;
    const unsigned cores = std::max(std::thread::hardware_concurrency(), 1U);
    const unsigned workers = arguments_.threads != 0 ? arguments_.threads : gpu ? cores : 1;
    busy_.resize(workers);
    std::vector<std::thread> threads;
    for (unsigned t = 1; t < workers; ++t) threads.emplace_back([this, t] { work(t); });
    work(0);
    for (std::thread& t : threads) t.join();
    draw_again();
    const std::vector<std::string> missing = names_of(missed());
    for (const std::string& name : missing) std::printf("never came up: %s\n", name.c_str());
    print();
    if (!arguments_.json.empty()) write(missing);
    return wrong_ == 0 && missing.empty() ? 0 : 1;
  }

 private:
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  static constexpr int kShown = 10;  // wrong problems

  void work(unsigned thread) {
    for (std::uint64_t i = next_++; i < count_ && wrong_ < kShown && seconds() < arguments_.seconds; i = next_++) {
      solve_one(arguments_.first + i, thread);
    }
  }

  // What chance has left out: further problems of the kernels that it is about.
  void draw_again() {
    constexpr std::uint64_t kRounds = 8;
    for (std::uint64_t round = 1; round <= kRounds && wrong_ == 0; ++round) {
      std::set<const Kernel*> wanted;
      for (const Missing& x : missed()) wanted.insert(x.kernels.begin(), x.kernels.end());
      if (wanted.empty()) return;
      for (std::uint64_t i = 0; i < kernels_.size(); ++i) {
        if (wanted.count(order_[i]) != 0) solve_one(round * order_.size() + i, 0);
      }
    }
  }

  void solve_one(std::uint64_t number, unsigned thread) {
    busy_[thread] = number;
    const Kernel& kernel = *order_[number % order_.size()];
    if (arguments_.each != 0) begin(kernel);
    std::string problem, wrong;
    try {
      Random random(number * 2 + 1);
      const bool large = device_.info().kind == DeviceKind::cuda && arguments_.each == 0;
      const Outcome o = solve(random, kernel, limits_of(random, large, number % order_.size() < kernels_.size()));
      problem = o.problem;
      wrong = o.wrong;
      const auto& launched = CountingDevice::launched();
      if (wrong.empty() && std::ranges::find(launched, &kernel) == launched.end()) {
        wrong = "another kernel was launched:";
        for (const Kernel* k : launched) wrong += " " + k->name();
      }
      add(kernel, o);
    } catch (const std::exception& e) {
      wrong = e.what();
      lost(thread);
    }
    if (!wrong.empty() && wrong_++ < kShown) {
      const std::lock_guard lock(mutex_);
      std::printf("problem %llu for %s: %s: %s\n", static_cast<unsigned long long>(number), kernel.name().c_str(),
                  problem.c_str(), wrong.c_str());
      std::fflush(stdout);
    }
  }

  // For tools that end the process.
  void begin(const Kernel& kernel) {
    const std::lock_guard lock(mutex_);
    std::printf("%s: %s\n", kernel.manifest().op.c_str(), kernel.name().c_str());
    std::fflush(stdout);
  }

  void add(const Kernel& kernel, const Outcome& o) {
    const std::lock_guard lock(mutex_);
    had_turn_.insert(&kernel);
    elements_ += o.elements;
    ++done_;
    for (const std::string& f : o.features) ++features_[kernel.manifest().op][f];
    if (o.of_bound > 0) {
      double& most = of_bound_[kernel.manifest().op];
      most = std::max(most, o.of_bound);
    }
  }

  // After an error of the device nobody knows whose problem it was.
  void lost(unsigned thread) {
    if (busy_.size() == 1) return;
    const std::lock_guard lock(mutex_);
    std::printf("an exception in thread %u; under way were", thread);
    for (const std::uint64_t number : busy_) std::printf(" %llu", static_cast<unsigned long long>(number));
    std::printf("\n");
  }

  struct Missing {
    std::string name;
    std::vector<const Kernel*> kernels;  // one of which might do it
  };
  static std::vector<std::string> names_of(const std::vector<Missing>& all) {
    std::vector<std::string> out;
    for (const Missing& x : all) out.push_back(x.name);
    return out;
  }
  [[nodiscard]] std::vector<Missing> missed() const {
    std::vector<Missing> out;
    if (had_turn_ != kernels_) return out;  // fewer problems than kernels: each problem has looked for its own
    const auto counts = device_.counts();
    for (const Kernel* k : kernels_) {
      const Count& c = counts.at(k->name());
      if (c.launches == 0) out.push_back({k->name(), {k}});
      if (takes_tiles_in_turn(*k) && c.second_tile == 0)
        out.push_back({k->name() + " with a second tile of a CTA", {k}});
      if (takes_tiles_in_turn(*k) && c.third_tile == 0) out.push_back({k->name() + " with a third tile of a CTA", {k}});
    }
    if (!arguments_.only.empty() || arguments_.each != 0) return out;
    constexpr double kFar = 0.01;
    for (const auto& [op, most] : of_bound_) {
      if (most >= kFar) continue;
      out.push_back({"an error of " + op + " that is " + std::to_string(kFar) + " of its .bound", {}});
      for (const Kernel* k : device_.registry().of_op(op)) out.back().kernels.push_back(k);
    }
    std::vector<std::string> features(std::begin(kFeatures), std::end(kFeatures));
    for (const ActivationRow& row : kActivations) {
      if (row.activation != GemmActivation::none) features.emplace_back(row.name);
    }
    for (const std::string& name : features) {
      if (name == "group" && device_.registry().of_op("table").empty()) continue;
      const auto has = [&](const auto& of_op) { return of_op.second.count(name) != 0; };
      if (std::ranges::none_of(features_, has)) out.push_back({name, {kernels_.begin(), kernels_.end()}});
    }
    return out;
  }

  void print() const {
    struct Sum {
      std::int64_t kernels = 0, least = -1;
      Count count;
    };
    std::map<std::string, Sum> by_op;
    const auto counts = device_.counts();
    for (const Kernel& k : device_.registry().kernels()) {
      Sum& s = by_op[k.manifest().op];
      const Count& c = counts.at(k.name());
      ++s.kernels;
      s.least = s.least < 0 ? c.launches : std::min(s.least, c.launches);
      s.count.launches += c.launches;
      s.count.second_tile += c.second_tile;
      s.count.third_tile += c.third_tile;
      s.count.clusters += c.clusters;
    }
    std::printf("%-16s %8s %9s %9s %12s %12s %9s %9s\n", "operation", "kernels", "launches", "of each", "second tile",
                "third tile", "clusters", "of bound");
    for (const auto& [op, s] : by_op) {
      std::printf("%-16s %8lld %9lld %9lld %12lld %12lld %9lld", op.c_str(), static_cast<long long>(s.kernels),
                  static_cast<long long>(s.count.launches), static_cast<long long>(s.least),
                  static_cast<long long>(s.count.second_tile), static_cast<long long>(s.count.third_tile),
                  static_cast<long long>(s.count.clusters));
      const auto most = of_bound_.find(op);
      if (most != of_bound_.end()) std::printf(" %9.3f", most->second);
      std::printf("\n");
    }
    std::printf("%lld problems on %s, %lld elements, %d wrong, %.1f s\n", static_cast<long long>(done_),
                device_.info().name.c_str(), static_cast<long long>(elements_), wrong_.load(), seconds());
  }

  void write(const std::vector<std::string>& missing) const {
    std::ofstream out(arguments_.json);
    const char* commit = std::getenv("NG_COMMIT");
    out << "{\n \"device\": \"" << device_.info().name << "\",\n \"commit\": \"" << (commit == nullptr ? "" : commit)
        << "\",\n \"problems\": " << done_ << ",\n \"wrong\": " << wrong_ << ",\n \"elements\": " << elements_
        << ",\n \"seconds\": " << seconds() << ",\n \"never launched\": [";
    for (std::size_t i = 0; i < missing.size(); ++i) out << (i == 0 ? "" : ", ") << '"' << missing[i] << '"';
    out << "],\n \"features\": {";
    const char* comma = "";
    for (const auto& [op, counts] : features_) {
      out << comma << "\n  \"" << op << "\": {";
      comma = ",";
      const char* inner = "";
      for (const auto& [name, count] : counts) out << inner << '"' << name << "\": " << count, inner = ", ";
      out << "}";
    }
    out << "\n },\n \"kernels\": {";
    comma = "";
    for (const auto& [name, c] : device_.counts()) {
      out << comma << "\n  \"" << name << "\": {\"launches\": " << c.launches;
      comma = ",";
      const Kernel* k = device_.registry().find(name);
      if (k != nullptr && takes_tiles_in_turn(*k)) {
        out << ", \"second tile\": " << c.second_tile << ", \"third tile\": " << c.third_tile;
      }
      if (c.clusters != 0) out << ", \"clusters\": " << c.clusters;
      out << "}";
    }
    out << "\n }\n}\n";
    out.close();
    if (!out) throw std::runtime_error("cannot write " + arguments_.json);
  }

  CountingDevice& device_;
  const Arguments& arguments_;
  std::vector<const Kernel*> order_;
  std::set<const Kernel*> kernels_, had_turn_;
  std::uint64_t count_ = 0;
  Clock::time_point start_ = Clock::now();
  std::atomic<std::uint64_t> next_{0};
  std::atomic<int> wrong_{0};
  std::mutex mutex_;
  std::vector<std::uint64_t> busy_;
  Features features_;
  std::map<std::string, double> of_bound_;  // by operation, the largest error in units of the kernels' .bound
  std::int64_t elements_ = 0, done_ = 0;
};

Arguments read(int count, char** values) {
  Arguments out;
  for (int i = 1; i < count; i += 2) {
    const std::string name = values[i];
    if (i + 1 == count) throw std::invalid_argument("option " + name + " lacks its value");
    const std::string value = values[i + 1];
    if (name == "--problems") {
      out.problems = std::stoull(value);
    } else if (name == "--first") {
      out.first = std::stoull(value);
    } else if (name == "--seconds") {
      out.seconds = std::stod(value);
    } else if (name == "--each") {
      out.each = std::stoull(value);
    } else if (name == "--threads") {
      out.threads = static_cast<unsigned>(std::stoul(value));
    } else if (name == "--only") {
      out.only = value;
    } else if (name == "--list") {
      out.list = value == "1";
    } else if (name == "--json") {
      out.json = value;
    } else {
      throw std::invalid_argument("unknown option " + name);
    }
  }
  return out;
}

}  // namespace
}  // namespace nervanagpu::variants

int main(int count, char** values) {
  using namespace nervanagpu;
  try {
    const auto arguments = variants::read(count, values);
    if (arguments.list) {
      for (const Kernel& k : current_device().registry().kernels()) std::printf("%s\n", k.name().c_str());
      return 0;
    }
    variants::CountingDevice device(current_device());
    exchange_device(&device);
    const int status = variants::Session(device, arguments).run();
    exchange_device(nullptr);
    return status;
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "variants: %s\n", wrong.what());
    return 2;
  }
}

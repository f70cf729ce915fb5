#include "kernels/gemm/choose/tuner.h"

#include <algorithm>
#include <atomic>
#include <initializer_list>
#include <mutex>
#include <utility>

#include "kernels/gemm/choose/alternatives.h"
#include "kernels/gemm/choose/measure.h"
#include "kernels/gemm/epilogue/flags.h"
#include "nervanagpu/autotune.hpp"
#include "src/device/environment.h"
#include "src/expr/deferred.h"
#include "src/launch/launch_tape.h"

namespace nervanagpu {
namespace {

enum class Switch : std::uint8_t { unset, off, on };
std::atomic<Switch> autotune_switch{Switch::unset};

}  // namespace

void set_autotune(bool on) {
  autotune_switch.store(on ? Switch::on : Switch::off);
}

bool autotune() {
  Switch now = autotune_switch.load(std::memory_order_relaxed);
  if (now == Switch::unset) {
    const Switch said = read_settings().autotune ? Switch::on : Switch::off;
    if (autotune_switch.compare_exchange_strong(now, said)) now = said;
  }
  return now == Switch::on;
}

namespace sgemm {
namespace {

constexpr std::size_t kMostKnown = 10'000;  // forms in memory; the file holds as many
constexpr double kGain = 0.98;  // of the model's own time: what a winner must be below, or noise would choose

thread_local bool measuring = false;

class Measuring {
 public:
  Measuring() { measuring = true; }
  ~Measuring() { measuring = false; }
  Measuring(const Measuring&) = delete;
  Measuring& operator=(const Measuring&) = delete;
};

const Plan* find(const std::vector<Plan>& all, const std::string& label) {
  const auto it = std::ranges::find_if(all, [&](const Plan& x) { return label_of(x) == label; });
  return it == all.end() ? nullptr : &*it;
}

}  // namespace

std::string words_of(const GemmProblem& p) {
  std::string out;
  const auto word = [&](std::string_view w) { (out += out.empty() ? "" : " ") += w; };
  const auto numbers = [&](std::string_view name, const std::initializer_list<std::int64_t>& all) {
    word(name);
    for (const std::int64_t v : all) word(std::to_string(v));
  };
  const auto at = [](std::uint64_t v) { return static_cast<std::int64_t>(v); };
  for (const Dtype t : {p.a_type, p.b_type, p.c_type}) word(nervanagpu::name_of(t));
  word(std::string(p.a_transposed ? "t" : "n") + (p.b_transposed ? "t" : "n"));
  numbers("mnk", {p.m, p.n, p.k});
  numbers("ld", {p.lda, p.ldb, p.ldc});
  numbers("at", {at(p.a), at(p.b), at(p.c), at(p.bias), at(p.scale)});
  numbers("flags", {flags_of(p), p.rounding.bits});
  if (p.bias != 0) word(nervanagpu::name_of(p.bias_type));
  if (p.mask != 0) numbers(p.activation == GemmActivation::drelu ? "drelu" : "mask", {p.ld_mask});
  if (p.pointers != 0) numbers("pointers", {p.pointers});
  if (p.batch != 1) numbers(p.sum_batch ? "sum" : "batch", {p.batch, p.stride_a, p.stride_b, p.stride_c});
  if (p.splits != 0) numbers("splits", {p.splits});
  if (p.workspace != 0) word("workspace");
  if (!p.tensor_cores) word("chains");
  if (p.precision == Precision::tensor) word("tensor");
  return out;
}

Tuner::Book& Tuner::book_of(Device& device) {
  const auto it = books_.find(device.serial());
  if (it != books_.end()) return it->second;
  Book made = {Choices(folder_, device.info()), {}};
  made.known = made.file.load();
  return books_.emplace(device.serial(), std::move(made)).first->second;
}

std::optional<Plan> Tuner::measured(Device& device, const GemmProblem& p, const std::vector<Plan>& all) {
  const Measuring now;
  const LaunchTape::Recording off(nullptr);
  const std::vector<double> times = clock_(device, p, all);
  if (times.size() != all.size()) return std::nullopt;
  const auto least = std::ranges::min_element(times);
  const bool clear = *least < kGain * times.front();
  return all[clear ? static_cast<std::size_t>(least - times.begin()) : 0];
}

std::optional<Plan> Tuner::choose(Device& device, const GemmProblem& problem, bool may_measure) {
  if (measuring) return std::nullopt;  // by way of work that was queued before: the lock is this thread's
  GemmProblem p = problem;
  p.row_sum = p.column_sum = p.row_max_abs = p.column_max_abs = 0;  // passes after the product, whichever plan it has
  const std::vector<Plan> all = alternatives(device.registry(), device.info().multiprocessors, p);
  if (all.size() == 1) return all.front();
  const std::string words = words_of(p);
  const std::lock_guard first(expr::computing_mutex());  // what is measured may have to do waiting writes
  const std::lock_guard lock(mutex_);
  Book& book = book_of(device);
  if (const auto known = book.known.find(words); known != book.known.end()) {
    if (const Plan* plan = find(all, known->second)) return *plan;
  }
  if (!may_measure) return std::nullopt;
  const std::optional<Plan> best = measured(device, p, all);
  if (!best) return all.front();  // not to be measured here: the model's, for as long as the process lives
  const std::string label = label_of(*best);
  if (book.known.size() >= kMostKnown) book.known.erase(book.known.begin());
  book.known[words] = label;
  book.file.add({{words, label}});
  return best;
}

namespace {

std::atomic<Tuner*> in_place{nullptr};

}  // namespace

Tuner& tuner() {
  if (Tuner* other = in_place.load(std::memory_order_relaxed)) return *other;
  static auto& own = *new Tuner(cache_folder(), &microseconds_of);  // never destroyed: a thread may launch at exit
  return own;
}

Tuner* exchange_tuner(Tuner* other) {
  return in_place.exchange(other);
}

}  // namespace sgemm
}  // namespace nervanagpu

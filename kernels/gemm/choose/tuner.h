// Which plan a form of product takes where autotune() is on: known, measured, or else the model's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kernels/gemm/choose/choices.h"
#include "kernels/gemm/gemm.h"

namespace nervanagpu::sgemm {

// A form as the file of choices has it. `problem`: of normal_form().
std::string words_of(const GemmProblem& problem);

class Tuner {
 public:
  // Microseconds of each plan; empty: they cannot be told.
  using Clock = std::function<std::vector<double>(Device&, const GemmProblem&, const std::vector<Plan>&)>;
  Tuner(std::string folder, Clock clock) : folder_(std::move(folder)), clock_(std::move(clock)) {}

  // One of alternatives(). None: it would have to be measured, and `may_measure` is false or this thread is measuring.
  std::optional<Plan> choose(Device& device, const GemmProblem& problem, bool may_measure);

 private:
  struct Book {  // of one device
    Choices file;
    Strings known;
  };
  Book& book_of(Device& device);
  std::optional<Plan> measured(Device& device, const GemmProblem& problem, const std::vector<Plan>& all);

  std::string folder_;
  Clock clock_;
  std::mutex mutex_;                     // also held while measuring: two at a time would disturb each other
  std::map<std::uint64_t, Book> books_;  // by Device::serial()
};

// The process's own, of $XDG_CACHE_HOME/nervanagpu; or what a test has put in its place (nullptr: that again).
Tuner& tuner();
Tuner* exchange_tuner(Tuner* other);

}  // namespace nervanagpu::sgemm

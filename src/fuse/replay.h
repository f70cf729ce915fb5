// What evaluating an expression has launched, to be launched again for one of the same form with other addresses and
// numbers. Finding the kernels of a small expression takes longer than to launch them.
//
//   Replay replay(results);
//   if (replay.done()) return;   // launched
//   ...                          // launches, which are noted
//   replay.keep();
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/fuse/kernel_cache.h"
#include "src/fuse/program.h"

namespace nervanagpu::fuse {

class Generated;
class Parameters;

class Replay {
 public:
  struct Result {
    const expr::Node* node;
    const Tensor* to;
  };
  explicit Replay(std::span<const Result> results);
  ~Replay();
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  [[nodiscard]] bool done() const { return done_; }
  void keep();

  // To be called for every launch of this thread: with its parameters, or nullptr for one that cannot be repeated so.
  static void note(const Generated& kernel, std::uint32_t ctas, const Parameters* params);

 private:
  struct Form;
  struct Launch;
  struct Sequence;

  static Kept<Sequence>& known();
  bool add(const Generated& kernel, std::uint32_t ctas, const Parameters& params);

  std::unique_ptr<Form> form_;  // none: not to be repeated
  std::shared_ptr<const Sequence> expected_;
  std::vector<Launch> launches_;
  Replay* before_ = nullptr;
  bool noting_ = false, done_ = false;
};

}  // namespace nervanagpu::fuse

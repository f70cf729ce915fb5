// Warps that wait for a flag in memory that nobody will set: they run, but repeat themselves. When every warp of a cluster
// that runs has used up its time slices for long, their state is compared with an earlier one; equal states mean that only
// another CTA can help. If all host threads have come to that, and each has seen it again since, it is a deadlock.
#pragma once

#include <cstdint>
#include <mutex>

namespace nervanagpu::sass::emulate {

struct Cluster;

// The host threads of a launch, and which of them run warps that only repeat themselves. A thread that the system has put
// aside may stand here as one that repeats and yet hold the lock that the others want: so a window counts only if it lies
// wholly after the moment when the last thread began to repeat itself.
class Spins {
 public:
  explicit Spins(std::uint64_t threads = 1) : threads_(threads) {}

  // What is known of one host thread; its own.
  struct Seat {
    bool repeats = false;
    bool confirmed = false;   // by a window of its own since `since`
    std::uint64_t since = 0;  // changes_ at the end of an earlier window
  };
  // A window of this thread is over in which its warps repeated themselves. True: so did all others, since all do.
  bool repeated(Seat& seat);
  // Its warps did something else.
  void moved(Seat& seat);
  // A thread has no more CTAs to run; its seat has moved.
  void left();

 private:
  void changed() {
    ++changes_;
    confirmed_ = 0;
  }

  std::mutex mutex_;
  std::uint64_t threads_;        // at work
  std::uint64_t repeating_ = 0;  // of these
  std::uint64_t confirmed_ = 0;  // of these, since the last change
  std::uint64_t changes_ = 1;    // of the above
};

class SpinWatch {
 public:
  explicit SpinWatch(Spins& spins) : spins_(spins) {}
  ~SpinWatch() { moved(); }
  SpinWatch(const SpinWatch&) = delete;
  SpinWatch& operator=(const SpinWatch&) = delete;

  // A round of the cluster in which something else happened than time slices that ran out.
  void moved();
  // A round in which nothing else happened. True: nothing will.
  bool idle(const Cluster& cluster);

 private:
  // Of rounds, each of kSlice backward branches of every warp.
  static constexpr std::uint32_t kPatience = 256;
  static constexpr std::uint32_t kWindow = 64;  // with one state to compare with

  Spins& spins_;
  Spins::Seat seat_;
  std::uint32_t rounds_ = 0;
  std::uint32_t same_ = 0;
  std::uint64_t state_ = 0;
};

}  // namespace nervanagpu::sass::emulate

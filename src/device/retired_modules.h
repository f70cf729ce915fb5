// Modules that nobody holds any more, until the work that may use them is done; then they are unloaded.
//
// A module comes here after its last launch. So an event that is recorded then, in every stream of the device, is after
// all its launches there: when all these events have passed, the module is idle. Work in a stream of somebody else, who
// may have destroyed it, cannot be marked: what was launched in one waits until the whole context was waited for. What is
// part of a graph is held by it, and does not come here before the graph is gone.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <vector>

#include "src/device/pool.h"

namespace nervanagpu {

struct RetiredModule {
  void* handle = nullptr;
  std::size_t bytes = 0;
  bool elsewhere = false;  // launched in a stream that is not of this device
};

// Thread-safe.
class RetiredModules {
 public:
  using Modules = std::vector<RetiredModule>;
  using Unload = std::function<void(const Modules&)>;
  RetiredModules(PoolBacking& marks, Unload unload) : marks_(&marks), unload_(std::move(unload)) {}

  void loaded() { any_.store(true); }  // a module that will be retired; before, streams need no marks
  // The device's streams. A stream ends just before it is destroyed.
  void made(StreamId stream);
  void ends(StreamId stream);
  [[nodiscard]] bool knows(StreamId stream);

  void retire(const RetiredModule& module);  // calls no driver
  // Unloads what is idle by now, and marks the work after which the others will be. Not in a thread that records a graph.
  void unload_idle();
  // All that are retired now, for who is about to wait for all work: then they are to be unloaded, or else put back.
  [[nodiscard]] Modules take();
  void put_back(const Modules& modules);
  void close();  // the device is gone: nothing is unloaded any more

 private:
  struct Batch {
    Modules modules;  // none: the end of a stream
    std::vector<EventId> events;
  };
  void collect(Modules& idle);  // what is after its events goes there
  void seal();                  // `waiting_` becomes a batch, if its events can be recorded now

  std::atomic<bool> any_{false};
  std::mutex mutex_;
  PoolBacking* marks_;  // nullptr: closed
  Unload unload_;
  std::set<StreamId> streams_;
  Modules waiting_;            // not marked yet
  Modules elsewhere_;          // until all work was waited for
  std::deque<Batch> batches_;  // in the order of their events: a later one is idle after all earlier
  bool blind_ = false;         // a stream ended without a mark: events prove nothing any more
};

}  // namespace nervanagpu

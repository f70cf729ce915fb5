#include "src/device/retired_modules.h"

#include <algorithm>
#include <utility>

namespace nervanagpu {

void RetiredModules::made(StreamId stream) {
  const std::lock_guard lock(mutex_);
  streams_.insert(stream);
}

void RetiredModules::ends(StreamId stream) {
  Modules idle;
  {
    const std::lock_guard lock(mutex_);
    if (streams_.erase(stream) == 0 || marks_ == nullptr || !any_.load()) return;
    collect(idle);
    const EventId end = marks_->capture(stream) == 0 ? marks_->mark(stream) : 0;
    if (end == 0) {
      blind_ = true;
    } else {
      batches_.push_back({{}, {end}});  // what is retired later stands after it
    }
  }
  if (!idle.empty()) unload_(idle);
}

bool RetiredModules::knows(StreamId stream) {
  const std::lock_guard lock(mutex_);
  return streams_.contains(stream);
}

void RetiredModules::retire(const RetiredModule& module) {
  const std::lock_guard lock(mutex_);
  if (marks_ == nullptr) {
    temporary_module_bytes -= module.bytes;
  } else {
    (module.elsewhere ? elsewhere_ : waiting_).push_back(module);
  }
}

void RetiredModules::seal() {
  if (waiting_.empty() || blind_) return;
  // An event of a stream that is being captured would become part of that graph.
  if (std::ranges::any_of(streams_, [&](StreamId s) { return marks_->capture(s) != 0; })) return;
  std::vector<StreamId> streams(streams_.begin(), streams_.end());
  streams.push_back(0);
  std::vector<EventId> events;
  for (const StreamId s : streams) {
    const EventId event = marks_->mark(s);
    if (event == 0) {
      for (const EventId e : events) marks_->drop(e);
      return;
    }
    events.push_back(event);
  }
  batches_.push_back({std::exchange(waiting_, {}), std::move(events)});
}

void RetiredModules::collect(Modules& idle) {
  const auto passed = [&](EventId e) { return marks_->passed(e); };
  while (!batches_.empty() && std::ranges::all_of(batches_.front().events, passed)) {
    const Batch& first = batches_.front();
    for (const EventId e : first.events) marks_->drop(e);
    idle.insert(idle.end(), first.modules.begin(), first.modules.end());
    batches_.pop_front();
  }
}

void RetiredModules::unload_idle() {
  Modules idle;
  {
    const std::lock_guard lock(mutex_);
    if (marks_ == nullptr) return;
    seal();
    collect(idle);
  }
  if (!idle.empty()) unload_(idle);
}

RetiredModules::Modules RetiredModules::take() {
  const std::lock_guard lock(mutex_);
  Modules all = std::exchange(waiting_, {});
  all.insert(all.end(), elsewhere_.begin(), elsewhere_.end());
  elsewhere_.clear();
  for (Batch& b : batches_) {
    all.insert(all.end(), b.modules.begin(), b.modules.end());
    b.modules.clear();
  }
  return all;
}

void RetiredModules::put_back(const Modules& modules) {
  const std::lock_guard lock(mutex_);
  elsewhere_.insert(elsewhere_.end(), modules.begin(), modules.end());
}

void RetiredModules::close() {
  for (const RetiredModule& m : take()) temporary_module_bytes -= m.bytes;
  const std::lock_guard lock(mutex_);
  marks_ = nullptr;
}

}  // namespace nervanagpu

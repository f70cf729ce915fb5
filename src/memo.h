// Results of a function, kept by its arguments for later calls.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace nervanagpu {

// For several threads; forgets everything when it holds kMost values. Hash: void orders keys by <.
// As a static object it is made by new and never destroyed: threads that run on at exit still ask.
template <typename Key, typename Value, typename Hash = void, std::size_t kMost = 4096>
class Memo {
 public:
  std::optional<Value> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto it = values_.find(key);
    return it == values_.end() ? std::nullopt : std::optional<Value>(it->second);
  }

  // The value of `key`: kept, or else what make() returns. make() runs without the lock, so it may be slow, throw, or ask
  // other keys; threads that miss the same key at once each run it, and the first value stays.
  template <typename Make>
  Value get(const Key& key, const Make& make) {
    if (auto found = find(key)) return *std::move(found);
    Value made = make();
    const std::lock_guard lock(mutex_);
    if (values_.size() >= kMost) values_.clear();
    return values_.emplace(key, std::move(made)).first->second;
  }

 private:
  using Values = std::conditional_t<std::is_void_v<Hash>, std::map<Key, Value>, std::unordered_map<Key, Value, Hash>>;

  std::mutex mutex_;
  Values values_;
};

}  // namespace nervanagpu

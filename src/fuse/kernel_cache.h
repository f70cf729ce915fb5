// What is kept by the structure of expressions: kernels, and what finds them faster. All of it shares one budget of bytes
// (nervanagpu/memory_report.hpp); when that is passed, what was used longest ago goes first, and is made again when it
// is asked for again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace nervanagpu::fuse {

// What a table keeps is one of these. It lives on while somebody holds it, also when the table has let it go.
struct Keepable {
  mutable std::uint64_t used = 0;  // when; the keeper's
  // Of what else is in use when this is: a class that has such hides this one.
  void touch(std::uint64_t now) const { used = now; }
};

class Keeper {
 public:
  static Keeper& all();

  struct Entry {
    std::uint64_t used;
    std::size_t bytes;
  };
  using Gone = std::vector<std::shared_ptr<const void>>;
  class Table {
   public:
    Table() = default;
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;
    virtual void list(std::vector<Entry>& to) const = 0;
    virtual void drop(std::uint64_t until, Gone& gone) = 0;  // what was not used since

   protected:
    ~Table() = default;
  };

  void add(Table* table);
  void set_budget(std::size_t bytes);
  // Of all tables; `bytes` as the tables estimate them.
  struct Stats {
    std::size_t entries = 0, bytes = 0, budget = 0;
    std::uint64_t evictions = 0;
  };
  [[nodiscard]] Stats stats();
  // Lets go what is too much, if anything is.
  void sweep();

  std::mutex mutex;  // of all tables; held for look-ups alone
  // With the mutex held:
  std::uint64_t tick() { return ++now_; }
  void count(std::size_t bytes) { ++stats_.entries, stats_.bytes += bytes; }
  [[nodiscard]] bool full() const { return stats_.bytes > stats_.budget; }

 private:
  Keeper();

  std::vector<Table*> tables_;
  Stats stats_;
  std::uint64_t now_ = 0;
};

// A table from keys to V, a Keepable. For the process: never destroyed.
template <class V>
class Kept final : public Keeper::Table {
 public:
  Kept() { Keeper::all().add(this); }

  // nullptr: there is none. It counts as used now.
  std::shared_ptr<const V> find(std::string_view key) {
    Keeper& keeper = Keeper::all();
    const std::lock_guard lock(keeper.mutex);
    const auto at = all_.find(key);
    if (at == all_.end()) return nullptr;
    at->second.value->touch(keeper.tick());
    return at->second.value;
  }

  // Keeps `value`, which takes `bytes`, unless somebody else was sooner; gives what is kept. May let go others.
  std::shared_ptr<const V> keep(std::string_view key, std::shared_ptr<const V> value, std::size_t bytes) {
    Keeper& keeper = Keeper::all();
    {
      const std::lock_guard lock(keeper.mutex);
      const auto [at, added] = all_.try_emplace(std::string(key), Slot{value, bytes + key.size() + kOverhead});
      value = at->second.value;
      value->touch(keeper.tick());
      if (!added) return value;
      keeper.count(at->second.bytes);
      if (!keeper.full()) return value;
    }
    keeper.sweep();
    return value;
  }

 private:
  static constexpr std::size_t kOverhead = 160;  // of a node, its key and its share of the table; allocators' headers
  struct Slot {
    std::shared_ptr<const V> value;
    std::size_t bytes;
  };
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };

  void list(std::vector<Keeper::Entry>& to) const override {
    for (const auto& [key, slot] : all_) to.push_back({slot.value->used, slot.bytes});
  }
  void drop(std::uint64_t until, Keeper::Gone& gone) override {
    std::erase_if(all_, [&](auto& entry) {
      if (entry.second.value->used > until) return false;
      gone.push_back(std::move(entry.second.value));
      return true;
    });
  }

  std::unordered_map<std::string, Slot, Hash, std::equal_to<>> all_;
};

}  // namespace nervanagpu::fuse

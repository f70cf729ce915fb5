// The shadow of a CTA's shared memory: which bytes were ever written, and for each word who wrote it and who read it
// last. Order between warps is a vector clock per warp, joined at barriers and atomics: an access may follow another
// warp's only if it has seen that warp's clock at the time. Copies of the engines: shadow_engine.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace nervanagpu::sass::emulate {

class Shadow {
 public:
  enum class Kind : std::uint8_t { kLoad, kStore, kAtomic, kAsyncStore };

  // Names an instruction in sentences.
  void name_by(std::function<std::string(std::uint32_t pc)> name) { name_ = std::move(name); }
  void reset(std::uint32_t bytes, std::uint32_t warps);

  // access() of the common case: a load of whole words that were written and that this warp may read. False: the
  // general way has to look (what was noted of the first words stays right).
  [[nodiscard]] bool plain_load(std::uint32_t warp, std::uint32_t offset, unsigned bytes) {
    if (((offset | bytes) & 3) != 0) return false;
    for (std::uint32_t i = offset / 4; i < (offset + bytes) / 4; ++i) {
      if (!plain_word(warp, words_[i])) return false;
    }
    return true;
  }

  // What is wrong with the access, or nullptr; `detail` gets the sentence.
  const char* access(std::uint32_t warp, std::uint32_t offset, unsigned bytes, Kind kind, std::string& detail);

  // plain_load() of an engine, HGMMA or a copy out of shared memory.
  [[nodiscard]] bool plain_engine_load(std::uint32_t warp, std::uint32_t offset, unsigned bytes) {
    const Clock& seen = clock_[warp];
    for (std::uint32_t i = offset / 4; i < (offset + bytes) / 4; ++i) {
      Word& word = words_[i];
      if (word.generic) {
        const std::uint32_t fence = last_fence_[word.writer];
        if ((word.write_time >= fence || seen[word.writer] < fence) && !is_fenced(warp, word)) return false;
      }
      if (!plain_word(warp, word)) return false;
    }
    return true;
  }
  const char* engine_load(std::uint32_t warp, std::uint32_t offset, unsigned bytes, std::string& detail);
  // Of a copy that `warp` has issued, to whole words.
  const char* engine_store(std::uint32_t warp, std::uint32_t copy, std::uint32_t offset, unsigned bytes,
                           std::string& detail);
  // The same by a warp of another CTA; order is not checked.
  void written_by_copy(std::uint32_t copy, std::uint32_t offset, unsigned bytes);
  // A copy that completes at an mbarrier of this CTA, in the phase that it is in; its number.
  std::uint32_t copy_begins(std::uint32_t warp, std::uint32_t mbarrier, std::uint32_t pc, bool remote);
  void fenced(std::uint32_t warp);  // FENCE.VIEW.ASYNC

  // A time of each warp, then the last known copy of each place.
  static constexpr unsigned kWarps = 32;
  static constexpr unsigned kPlaces = 32;
  using Clock = std::array<std::uint32_t, kWarps + kPlaces>;
  [[nodiscard]] const Clock& seen(std::uint32_t warp) const { return clock_[warp]; }

  void async_issued(std::uint32_t warp) { ++async_count_[warp]; }
  [[nodiscard]] std::uint32_t async_count(std::uint32_t warp) const { return async_count_[warp]; }
  void async_awaited(std::uint32_t warp,
                     std::uint32_t count);  // the first `count` copies of the warp are visible to it

  void arrive(std::uint32_t warp, unsigned barrier);
  void release(std::uint32_t warp, unsigned barrier);  // a waiter of a completed barrier
  void completed(unsigned barrier);                    // after all waiters were released

  // Who has seen a phase of an mbarrier end has seen what came before the arrivals of it.
  void mbarrier_made(std::uint32_t address) { mbarriers_[address] = {}; }
  // Its two words: made, by a hidden hand, or invalidated.
  void mbarrier_words(std::uint32_t offset, bool made) {
    for (unsigned i = 0; i < 2; ++i) {
      Word& word = words_[offset / 4 + i];
      if (made) word.init = 15;
      word.mbarrier = made;
    }
  }
  void mbarrier_arrive(std::uint32_t warp, std::uint32_t address, bool ends_phase);
  // True if others of the cluster have arrived at it.
  bool mbarrier_observe(std::uint32_t warp, std::uint32_t address);
  // An arrival from another CTA. What its warps had seen is not known here: whoever sees the end of a phase counts as
  // having seen all that this CTA did before.
  void mbarrier_remote(std::uint32_t address, bool ends_phase) {
    mbarriers_[address].remote = true;
    if (ends_phase) phase_over(address);
  }
  static constexpr std::uint32_t kClusterBarrier = ~0u;  // among the mbarriers: that of the cluster
  void phase_over(std::uint32_t address);
  // By a warp of another CTA; order is not checked.
  const char* remote_access(std::uint32_t offset, unsigned bytes, Kind kind, std::string& detail);

 private:
  static constexpr std::uint8_t kNobody = 255;

  struct Word {
    std::uint32_t write_time = 0;   // the writer's time, or the number of the copy
    std::uint32_t read_time = 0;    // the earliest of the readers
    std::uint32_t readers = 0;      // bit per warp, since the last write
    std::uint32_t async = 0;        // number of the copy that wrote it; 0: none, or known to be awaited
    std::uint8_t writer = kNobody;  // a warp, or from kWarps on the place of the copy's mbarrier
    std::uint8_t write_mask = 0;    // bytes of the last write
    std::uint8_t init = 0;          // bytes ever written
    bool generic = false;           // written by a warp's own store: engines see it behind a fence
    bool mbarrier = false;          // of one that nobody has invalidated
  };

  bool plain_word(std::uint32_t warp, Word& word) {
    const Clock& seen = clock_[warp];
    const std::uint32_t bit = 1u << warp;
    if (word.init != 15 || word.async != 0) return false;
    if ((word.readers & bit) != 0) return true;  // read before, since the last write
    if (word.writer != warp && word.writer != kNobody && seen[word.writer] < word.write_time) return false;
    const std::uint32_t now = seen[warp];
    word.read_time = word.readers == 0 || now < word.read_time ? now : word.read_time;
    word.readers |= bit;
    return true;
  }
  const char* word_access(std::uint32_t warp, std::uint32_t index, std::uint8_t mask, Kind kind, std::string& detail);
  static void join(Clock& to, const Clock& from);

  struct Phases {
    Clock current{};  // arrivals of this phase
    Clock over{};     // of all before
    bool remote = false;
    std::uint8_t place = kNobody;  // in the clocks, of the copies that complete here
  };
  struct Copy {
    std::uint32_t pc = 0;
    std::uint32_t warp = 0;
    std::uint32_t mbarrier = 0;  // shared address
    std::uint8_t place = 0;
    bool remote = false;  // the warp is of another CTA
  };
  void end_phase(Phases& p);
  [[nodiscard]] bool is_fenced(std::uint32_t reader, const Word& word) const;
  [[nodiscard]] std::string describe_copy(std::uint32_t copy) const;

  std::vector<Word> words_;
  std::map<std::uint32_t, Phases> mbarriers_;  // by address
  std::array<Clock, kWarps> clock_{};
  std::array<Clock, 16> barrier_{};
  Clock atomic_{};
  std::uint32_t time_ = 0;
  std::array<std::uint32_t, kWarps> async_count_{};
  std::function<std::string(std::uint32_t)> name_;
  std::vector<Copy> copies_;  // from number 1 on
  std::uint32_t places_ = 0;  // handed out
  std::array<std::uint32_t, kPlaces> completed_{};
  std::array<std::vector<std::uint32_t>, kWarps> fences_;  // times, ascending
  std::array<std::uint32_t, kWarps> last_fence_{};
  std::array<std::vector<std::pair<std::uint32_t, std::uint32_t>>, kWarps> awaited_;  // (copies, time), ascending
};

}  // namespace nervanagpu::sass::emulate

// Who touched a word of memory, as far as a later access may have to be ordered after it: the last write, and a set of the
// accesses since (reads, atomic operations, writes of other bytes). Accesses and sets are interned: a word has two numbers.
// Words that the same accesses touched in the same order share a set, so that noting an access is mostly a comparison.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace nervanagpu::sass::emulate {

struct Touch {
  enum class Kind : std::uint8_t { kRead, kStrongRead, kWrite, kStrongWrite, kInit };
  std::uint32_t cluster = 0;
  std::uint32_t time = 0;
  std::uint32_t pc = 0;
  std::uint16_t agent = 0;
  std::uint16_t warp = 0;  // and the rank of the CTA in its cluster: for sentences
  std::uint8_t rank = 0;
  Kind kind = Kind::kRead;
  std::uint8_t mask = 15;  // bytes of the word
  std::uint8_t lane = 0;   // the first that takes part in the instruction

  [[nodiscard]] bool writes() const { return kind >= Kind::kWrite; }  // kInit: of an mbarrier
  [[nodiscard]] bool strong() const { return kind == Kind::kStrongRead || kind == Kind::kStrongWrite; }
};

struct Touched {
  std::uint32_t writer = 0;  // number of the last access that wrote, not atomically; 0: none
  std::uint32_t set = 0;     // 0: empty
};

class AccessLog {
 public:
  explicit AccessLog(std::size_t most = std::size_t{1} << 22) : most_(most) {}
  void clear();
  // The number of an access, from 1; what comes next is by this one. The lane of one that is known already stays. 0: there are
  // too many, this one is not noted.
  std::uint32_t number(const Touch& a) {
    std::uint32_t& slot = slots_[(a.pc * 8 + a.mask) % kSlots];
    if (slot == 0 || !same(accesses_[slot], a)) slot = fresh(a);
    if (slot != now_) {
      now_ = slot;
      good_writer_ = 0;
      from_ = kNone;
    }
    return slot;
  }
  [[nodiscard]] const Touch& at(std::uint32_t number) const { return accesses_[number]; }
  // One like `number`, but by `agent` at `time`; what comes next is still by the one that was asked for last.
  std::uint32_t moved(std::uint32_t number, std::uint16_t agent, std::uint32_t time);

  // The access `now`, of number(), to a word. `ordered(Touch earlier)` says whether it is after that one, `clash(number of
  // the earlier access, whether it is word.writer)` is called where not.
  template <class Ordered, class Clash>
  void touch(Touched& word, std::uint32_t now, Ordered ordered, Clash clash) {
    const Touch a = accesses_[now];
    if (word.writer != good_writer_ && word.writer != 0) {
      const Touch& b = accesses_[word.writer];
      if ((a.mask & b.mask) == 0 || ordered(b)) {
        good_writer_ = word.writer;
      } else {
        clash(word.writer, true);
      }
    }
    if (!a.writes()) {
      if (word.set == from_) {
        word.set = to_;
        return;
      }
      if (sets_[word.set].writes) each_clash(word.set, a, ordered, clash);
      from_ = word.set;
      to_ = word.set = with(word.set, now);
      if (sets_[from_].writes) from_ = kNone;
      return;
    }
    if (word.set != 0) each_clash(word.set, a, ordered, clash);
    if (a.strong()) {
      word.set = with(word.set, now);
      return;
    }
    std::uint32_t rest = a.mask == 15 ? 0 : without(word.set, a.mask);
    if (word.writer != 0 && (accesses_[word.writer].mask & ~a.mask) != 0) rest = with(rest, word.writer);
    word.set = rest;
    word.writer = now;
  }

 private:
  static constexpr std::uint32_t kNone = ~0u;
  static constexpr std::size_t kSlots = 1024;
  static constexpr std::size_t kMemo = 4096;
  static constexpr std::uint16_t kMost = 1024;  // of a set; more are not noted

  struct Set {  // a list: one access more than another set
    std::uint32_t rest = 0;
    std::uint32_t access = 0;
    std::uint16_t size = 0;
    bool writes = false;  // some of them
  };
  struct Memo {
    std::uint32_t from = kNone, access = 0, to = 0;
  };

  static bool same(const Touch& a, const Touch& b) {
    return a.time == b.time && a.pc == b.pc && a.agent == b.agent && a.cluster == b.cluster && a.kind == b.kind &&
           a.mask == b.mask;
  }
  std::uint32_t fresh(const Touch& a);
  std::uint32_t push(std::uint32_t rest, std::uint32_t access);
  std::uint32_t with(std::uint32_t set, std::uint32_t access);
  std::uint32_t without(std::uint32_t set, std::uint8_t mask);
  template <class Ordered, class Clash>
  void each_clash(std::uint32_t set, const Touch& a, Ordered ordered, Clash clash) {
    for (std::uint32_t s = set; s != 0; s = sets_[s].rest) {
      const Touch& b = accesses_[sets_[s].access];
      if ((a.mask & b.mask) == 0 || (!a.writes() && !b.writes()) || (a.strong() && b.strong()) || ordered(b)) continue;
      clash(sets_[s].access, false);
    }
  }

  std::size_t most_;  // of accesses, and of sets
  std::vector<Touch> accesses_{1};
  std::vector<Set> sets_{1};
  std::array<std::uint32_t, kSlots> slots_{};
  std::vector<Memo> memo_{kMemo};
  std::uint32_t now_ = 0;
  std::uint32_t good_writer_ = 0;  // a writer that `now_` is known to be after
  std::uint32_t from_ = kNone;     // with `now_` this set becomes
  std::uint32_t to_ = 0;           // that one
  std::uint32_t moved_from_ = 0;   // the last that moved() made
  std::uint32_t moved_to_ = 0;
};

}  // namespace nervanagpu::sass::emulate

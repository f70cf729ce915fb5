#include "sass/asm/template/allocate.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "sass/asm/schedule/bits.h"
#include "sass/asm/schedule/flow.h"
#include "sass/asm/template/expand.h"
#include "sass/asm/template/free_text.h"
#include "sass/isa/access.h"

namespace nervanagpu::sass {
namespace {

constexpr std::size_t kFiles = 4;
constexpr std::uint32_t kTrialAlign = 8;  // of the places that a line's names get to be looked at
constexpr std::uint32_t kNone = ~std::uint32_t{0};

std::size_t index(RegFile file) {
  return static_cast<std::size_t>(file);
}

// What one instruction does with free names: registers are counted from kFirstFree.
struct Touch {
  std::uint32_t reg = 0;
  bool write = false;
  bool surely = false;  // written whatever the guard
};

class Allocator {
 public:
  Allocator(const Expansion& in, const std::vector<FreeName>& names, const std::vector<RegView>& kept_away)
      : in_(in), names_(names), align_(names.size()), place_(names.size(), kNone) {
    for (std::size_t n = 0; n < names.size(); ++n) {
      align_[n] = names[n].align;
      owner_.insert(owner_.end(), names[n].count, static_cast<std::uint32_t>(n));
    }
    for (std::size_t f = 0; f < kFiles; ++f) away_[f].assign(256, false);
    for (const RegView& v : kept_away) {
      for (unsigned k = 0; k < v.count; ++k) away_[index(v.file)][v.base + k] = true;
    }
  }

  Result<Expansion> run() {
    Status read = look_at_lines();
    if (!read.ok()) return read.error();
    flow_ = flow_of(program_);
    find_live();
    find_conflicts();
    // Large names first, or in order of appearance: whichever fits.
    std::vector<std::uint32_t> order(names_.size());
    std::iota(order.begin(), order.end(), 0);
    const auto size = [&](std::uint32_t n) { return names_[n].count >= 4 ? names_[n].count : 1; };
    std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) { return size(a) > size(b); });
    std::uint32_t failed = color(order);
    if (failed != kNone) {
      std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) { return degree(a) > degree(b); });
      if (color(order) != kNone) return no_room(failed);
    }
    Expansion out = in_;
    for (TextLine& line : out.lines) {
      if (is_label(line)) continue;
      line = renumbered(line, [&](const FreeToken& t) {
        const std::uint32_t n = owner(t.number);
        return place_[n] + (t.number - names_[n].first);
      });
    }
    return out;
  }

 private:
  static bool is_label(const TextLine& line) { return !line.text.empty() && line.text.back() == ':'; }
  [[nodiscard]] std::uint32_t owner(std::uint32_t number) const { return owner_[number - kFirstFree]; }
  [[nodiscard]] std::string spelled(std::uint32_t n, std::uint32_t offset) const {
    return names_[n].name + (names_[n].array ? "[" + std::to_string(offset) + "]" : "");
  }

  // ---- The lines, one by one, with trial registers: which names each reads and writes ------------------------------
  // Trial places of one line's names; every register of a file is used by one name at most.
  struct Trial {
    std::map<std::uint32_t, std::uint32_t> base;               // of a name
    std::array<std::map<std::uint32_t, std::uint32_t>, 4> of;  // free number of each trial register
  };

  Status make_trial(const TextLine& line, Trial& trial) {
    const std::vector<FreeToken> tokens = register_tokens(line.text);
    std::array<std::vector<bool>, kFiles> taken;
    for (std::size_t f = 0; f < kFiles; ++f) taken[f].assign(300, false);
    for (const FreeToken& t : tokens) {
      if (t.number >= kFirstFree) continue;
      const bool vector = t.file == RegFile::kGpr || t.file == RegFile::kUGpr;
      for (std::uint32_t k = 0; k < (vector ? 8U : 1U) && t.number + k < 300; ++k)
        taken[index(t.file)][t.number + k] = true;
    }
    for (const FreeToken& t : tokens) {
      if (t.number < kFirstFree) continue;
      if (t.number - kFirstFree >= owner_.size()) {
        return at(line, "`" + line.text.substr(t.pos, t.length) + "` is not a register");
      }
      const std::uint32_t n = owner(t.number);
      if (trial.base.contains(n)) continue;
      const FreeName& name = names_[n];
      const bool vector = t.file == RegFile::kGpr || t.file == RegFile::kUGpr;
      const std::uint32_t step = vector ? std::max(t.file == RegFile::kGpr ? kTrialAlign : 4, name.align) : 1;
      const std::uint32_t limit = t.file == RegFile::kGpr ? 253 : register_limit(t.file);
      std::uint32_t base = 0;
      const auto free_at = [&](std::uint32_t b) {
        for (std::uint32_t k = 0; k < name.count; ++k) {
          if (taken[index(t.file)][b + k]) return false;
        }
        return true;
      };
      while (base + name.count <= limit && !free_at(base)) base += step;
      if (base + name.count > limit) {
        return at(line, "the names of this line have more registers than there are; give `" + name.name + "` a place");
      }
      trial.base[n] = base;
      for (std::uint32_t k = 0; k < name.count; ++k) {
        taken[index(t.file)][base + k] = true;
        trial.of[index(t.file)][base + k] = name.first + k;
      }
    }
    return Done{};
  }

  Diag at(const TextLine& line, std::string message) const {
    Diag d = error_at({line.at.file, line.at.line, column_at(line.columns, 0)}, std::move(message));
    add_origins(d, line.from.get());
    return d;
  }

  Status look_at_lines() {
    Expansion trial_text = in_;
    trial_text.manifest.registers = 0;
    std::vector<Trial> trials;
    std::vector<const TextLine*> lines;
    for (TextLine& line : trial_text.lines) {
      if (is_label(line)) continue;
      Trial trial;
      if (Status s = make_trial(line, trial); !s.ok()) return s;
      line = renumbered(line, [&](const FreeToken& t) {
        const std::uint32_t n = owner(t.number);
        return trial.base[n] + (t.number - names_[n].first);
      });
      trials.push_back(std::move(trial));
      lines.push_back(&line);
    }
    Result<Program> parsed = parse(trial_text);
    if (!parsed.ok()) return named(parsed.error(), lines, trials);
    program_ = std::move(*parsed);
    touched_.resize(program_.lines.size());
    for (std::size_t i = 0; i < program_.lines.size(); ++i) {
      if (Status s = look_at(i, *lines[i], trials[i]); !s.ok()) return s;
    }
    return Done{};
  }

  // A parser's error speaks of trial registers: say whose they are.
  Diag named(Diag d, const std::vector<const TextLine*>& lines, const std::vector<Trial>& trials) const {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i]->at.line != d.at.line || lines[i]->at.file != d.at.file || trials[i].base.empty()) continue;
      std::string note = "here";
      for (const auto& [n, base] : trials[i].base) {
        note +=
            (note.size() > 4 ? ", `" : " `") + names_[n].name + "` stands at " + register_text(names_[n].file, base);
      }
      d.notes.push_back(note);
      break;
    }
    return d;
  }

  Status look_at(std::size_t i, const TextLine& line, const Trial& trial) {
    const Inst& inst = program_.lines[i].inst;
    if (inst.guard.pred == kPT && inst.guard.inv) return Done{};
    const bool surely = inst.guard.pred == kPT;
    for (const Access& a : accesses(inst)) {
      if (index(a.file) >= kFiles) continue;
      const auto& of = trial.of[index(a.file)];
      const auto first = of.find(a.first);
      for (unsigned k = 0; k < a.count; ++k) {
        const auto it = of.find(a.first + k);
        const bool same =
            first == of.end() ? it == of.end() : it != of.end() && owner(it->second) == owner(first->second);
        if (!same) {
          return at(line, first == of.end()
                              ? "a register by number reaches into the names of this line; give these places"
                              : "the instruction takes " + std::to_string(a.count) + " registers from `" +
                                    spelled(owner(first->second), first->second - names_[owner(first->second)].first) +
                                    "` on; `" + names_[owner(first->second)].name + "` has " +
                                    std::to_string(names_[owner(first->second)].count));
        }
        if (it == of.end()) {
          away_[index(a.file)][a.first + k] = true;
        } else {
          touched_[i].push_back({it->second - kFirstFree, a.write, a.write && surely});
        }
      }
      if (first == of.end()) continue;
      // Vectors of registers are aligned to their size.
      const std::uint32_t n = owner(first->second);
      const std::uint32_t size = a.count == 3 ? 4 : a.count;
      const bool power = (size & (size - 1)) == 0 && size <= kTrialAlign;
      if (power && (first->second - names_[n].first) % size == 0) align_[n] = std::max(align_[n], size);
    }
    return Done{};
  }

  // ---- Live ranges --------------------------------------------------------------------------------------------------
  // From what is live after line i to what is live before it.
  void step_back(std::size_t i, Bits& live) const {
    for (const Touch& t : touched_[i]) {
      if (t.surely) live.reset(t.reg);
    }
    for (const Touch& t : touched_[i]) {
      if (!t.write) live.set(t.reg);
    }
  }

  void find_live() {
    live_out_.assign(flow_.blocks.size(), Bits(owner_.size()));
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t b = flow_.blocks.size(); b-- > 0;) {
        Bits live = live_out_[b];
        for (std::uint32_t i = flow_.blocks[b].last; i-- > flow_.blocks[b].first;) step_back(i, live);
        for (const std::uint32_t p : flow_.blocks[b].prev) changed |= live_out_[p].merge(live);
      }
    }
  }

  [[nodiscard]] Bits names_of(const Bits& registers) const {
    Bits out(names_.size());
    registers.each([&](std::uint32_t r) { out.set(owner_[r]); });
    return out;
  }
  void conflict(std::uint32_t a, std::uint32_t b) {
    if (a == b || names_[a].file != names_[b].file) return;
    conflicts_[a].set(b);
    conflicts_[b].set(a);
  }
  // Every line from its end to its start, with what is live after it.
  template <class F>
  void walk(const F& f) const {
    for (std::size_t b = 0; b < flow_.blocks.size(); ++b) {
      Bits live = live_out_[b];
      for (std::uint32_t i = flow_.blocks[b].last; i-- > flow_.blocks[b].first;) {
        f(i, live);
        step_back(i, live);
      }
    }
  }

  void find_conflicts() {
    conflicts_.assign(names_.size(), Bits(names_.size()));
    walk([&](std::uint32_t i, const Bits& live) {
      const Bits around = names_of(live);
      for (const Touch& t : touched_[i]) {
        if (!t.write) continue;
        around.each([&](std::uint32_t n) { conflict(owner_[t.reg], n); });
        for (const Touch& other : touched_[i]) {
          if (other.write) conflict(owner_[t.reg], owner_[other.reg]);
        }
      }
    });
    // What is read before any write keeps apart from the start.
    Bits start = live_out_[0];
    for (std::uint32_t i = flow_.blocks[0].last; i-- > 0;) step_back(i, start);
    const Bits entering = names_of(start);
    entering.each([&](std::uint32_t a) { entering.each([&](std::uint32_t b) { conflict(a, b); }); });
  }

  // ---- Places -------------------------------------------------------------------------------------------------------
  [[nodiscard]] std::uint32_t degree(std::uint32_t n) const {
    std::uint32_t sum = 0;
    conflicts_[n].each([&](std::uint32_t o) { sum += names_[o].count; });
    return sum;
  }
  [[nodiscard]] std::uint32_t limit(RegFile file) const {
    if (file != RegFile::kGpr) return register_limit(file);
    const std::uint32_t spare = chips_registers(info(in_.manifest.arch).encoding);
    return (in_.manifest.registers == 0 ? 255 : in_.manifest.registers) - spare;
  }

  // The name that found no place, or kNone.
  std::uint32_t color(const std::vector<std::uint32_t>& order) {
    std::ranges::fill(place_, kNone);
    const unsigned banks = info(in_.manifest.arch).register_banks;
    for (const std::uint32_t n : order) {
      const FreeName& name = names_[n];
      std::vector<bool> taken = away_[index(name.file)];
      conflicts_[n].each([&](std::uint32_t o) {
        if (place_[o] == kNone) return;
        for (std::uint32_t k = 0; k < names_[o].count; ++k) taken[place_[o] + k] = true;
      });
      const auto fits = [&](std::uint32_t base) {
        if (base % align_[n] != 0 || (name.bank && base % banks != *name.bank)) return false;
        for (std::uint32_t k = 0; k < name.count; ++k) {
          if (taken[base + k]) return false;
        }
        return true;
      };
      std::uint32_t base = 0;
      while (base + name.count <= limit(name.file) && !fits(base)) ++base;
      if (base + name.count > limit(name.file)) return n;
      place_[n] = base;
    }
    return kNone;
  }

  // The line of the live range of `n` where the most registers of its file are live, and who has them.
  Diag no_room(std::uint32_t n) const {
    const RegFile file = names_[n].file;
    std::uint32_t most = 0;
    std::uint32_t where = 0;
    Bits there(names_.size());
    walk([&](std::uint32_t i, const Bits& live) {
      Bits around = names_of(live);
      for (const Touch& t : touched_[i]) around.set(owner_[t.reg]);
      if (!around.test(n)) return;
      std::uint32_t sum = 0;
      around.each([&](std::uint32_t o) { sum += names_[o].file == file ? names_[o].count : 0; });
      if (sum < most) return;
      most = sum;
      where = i;
      there = around;
    });
    std::string list;
    there.each([&](std::uint32_t o) {
      if (names_[o].file != file) return;
      list += (list.empty() ? "" : ", ") + names_[o].name;
      if (names_[o].count > 1) list += "[" + std::to_string(names_[o].count) + "]";
    });
    const auto away = std::count(away_[index(file)].begin(), away_[index(file)].end(), true);
    std::string want = std::to_string(names_[n].count) + " " + std::string(register_prefix(file)) +
                       (names_[n].count == 1 ? " register" : " registers");
    if (align_[n] > 1) want += " aligned to " + std::to_string(align_[n]);
    if (names_[n].bank) want += " in bank " + std::to_string(*names_[n].bank);
    const Span& line = program_.lines[where].at;
    return error_at(names_[n].at, "no room for `" + names_[n].name + "`: " + want,
                    {std::to_string(most) + " " + std::string(register_prefix(file)) + " registers are live at " +
                         line.file + ":" + std::to_string(line.line) + ": " + list,
                     std::to_string(limit(file)) + " there are, " + std::to_string(away) + " of them kept away"});
  }

  const Expansion& in_;
  const std::vector<FreeName>& names_;
  std::vector<std::uint32_t> owner_;  // name of each free register
  std::vector<std::uint32_t> align_;  // of each name: as declared, or as its instructions need
  std::vector<std::uint32_t> place_;
  std::array<std::vector<bool>, kFiles> away_;
  Program program_;  // with trial registers
  std::vector<std::vector<Touch>> touched_;
  Flow flow_;
  std::vector<Bits> live_out_;
  std::vector<Bits> conflicts_;
};

}  // namespace

Result<Expansion> allocate(const Expansion& expansion, const std::vector<FreeName>& names,
                           const std::vector<RegView>& kept_away) {
  return Allocator(expansion, names, kept_away).run();
}

}  // namespace nervanagpu::sass

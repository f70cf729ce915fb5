#include "sass/verify/calls.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "sass/bytes.h"
#include "sass/isa/op_facts.h"
#include "sass/verify/address.h"
#include "sass/verify/finding.h"

namespace nervanagpu::sass::verify_detail {
namespace {

constexpr Location kReturnRegister = 20;  // of functions outside of the cubin

// What a function has done when it returns, in terms of its entry.
struct Summary {
  bool returns = false;
  Value to;                    // where
  Places places;               // what registers and the stack then hold
  std::set<std::uint32_t> by;  // its RETs, and those of functions that it leaves its return to
  bool operator==(const Summary&) const = default;
};

class Follower {
 public:
  Follower(const Code& code, const Branches& branches)
      : code_(code), branches_(branches), n_(static_cast<std::uint32_t>(code.steps.size())) {
    for (std::uint32_t i = 0; i < n_; ++i) {
      if (runs(i, Op::CALL) && !computed(i) && label(i) != Branches::kNowhere) entries_.insert(label(i));
    }
    find_taken();
    entries_.insert(0);
  }

  CallEdges run() {
    // All summaries grow until nothing changes. Hostile code ends by the budget.
    budget_ = std::size_t{n_} * 64 + (std::size_t{1} << 20);
    functions_.try_emplace(0);
    for (bool more = true; more;) {
      more = false;
      for (auto it = functions_.begin(); it != functions_.end(); ++it) {
        const Summary before = it->second;
        follow(it->first, it->second);
        more = more || !(before == it->second) || discovered_;
        discovered_ = false;
      }
      if (budget_ == 0) {
        give_up();
        break;
      }
    }
    const auto main = functions_.find(0);
    if (budget_ != 0 && main->second.returns) {
      for (const std::uint32_t by : main->second.by) say(by, "the kernel returns, but nobody has called it");
    }
    for (const auto& [at, text] : unproven_) out_.unproven.push_back({at, text});
    return std::move(out_);
  }

 private:
  [[nodiscard]] const Step& at(std::uint32_t i) const { return code_.steps[i]; }
  [[nodiscard]] bool runs(std::uint32_t i, Op op) const { return at(i).known && !at(i).never && at(i).inst.op == op; }
  [[nodiscard]] std::uint32_t label(std::uint32_t i) const { return branches_.target[i]; }

  // The register that a CALL or RET takes its target from.
  [[nodiscard]] std::optional<Location> target_register(std::uint32_t i) const {
    for (const Operand& o : at(i).inst.operands()) {
      if (o.kind == OperandKind::kGpr) return o.reg;
      if (o.kind == OperandKind::kUGpr) return uniform_location(o.reg);
    }
    return std::nullopt;
  }
  [[nodiscard]] bool computed(std::uint32_t i) const { return target_register(i).has_value(); }

  void say(std::uint32_t i, const char* text) { unproven_.emplace(i, text); }

  [[nodiscard]] std::optional<std::uint32_t> index_of(std::uint64_t address) const {
    const std::int64_t index = index_at(info(code_.arch).encoding, address);
    if (index < 0 || index >= std::int64_t{n_}) return std::nullopt;
    return static_cast<std::uint32_t>(index);
  }

  void take(std::uint64_t address) {
    if (const auto index = index_of(address)) taken_.insert(*index);
  }

  // Functions that may be called through a register: those whose address stands in data, in the tables that ptxas makes of
  // them in c[0x2], or in an instruction.
  void find_taken() {
    const auto relocated = [&](const std::vector<Relocation>& list) {
      for (const Relocation& r : list) {
        if (r.to == Relocation::To::kCode) take(r.value);
      }
    };
    if (code_.data != nullptr) {
      relocated(code_.data->in_variables);
      relocated(code_.data->in_constant3);
      relocated(code_.data->in_constant4);
    }
    // Of instructions' addresses not those where calls return: a function that an instruction names begins a section.
    constexpr std::uint64_t kSectionAlignment = 128;
    for (const CodeRelocation& r : code_.kernel->relocations) {
      const auto index = index_of(r.value);
      const bool behind_call = index && *index > 0 && runs(*index - 1, Op::CALL);
      if (r.to == Relocation::To::kCode && (!behind_call || r.value % kSectionAlignment == 0)) take(r.value);
    }
    const std::vector<std::uint8_t>& table = code_.kernel->constant2;
    for (std::size_t k = 0; k + 8 <= table.size(); k += 8) {
      const auto address = load_le<std::uint64_t>(ByteView(table), k);
      if (address != 0) take(address);
    }
    for (const std::uint32_t t : taken_) entries_.insert(t);
    if (taken_.empty() && (code_.data == nullptr || code_.data->externals.empty())) {
      taken_.insert(branches_.landings.begin(), branches_.landings.end());
    }
  }

  // Too many ways: every RET goes after every CALL.
  void give_up() {
    say(0, "its calls are too many to follow: not proven");
    for (std::uint32_t call = 0; call < n_; ++call) {
      if (!runs(call, Op::CALL)) continue;
      out_.leaving.insert(call);
      if (call + 1 < n_) out_.edges.insert({call, call + 1});
      if (label(call) != Branches::kNowhere) out_.edges.insert({call, label(call)});
    }
  }

  // One function, with what is known of those that it calls.
  void follow(std::uint32_t entry, Summary& summary) {
    std::map<std::uint32_t, Places> in;
    std::set<std::uint32_t> work;
    const auto reach = [&](std::uint32_t to, const Places& with) {
      const auto [found, fresh] = in.try_emplace(to, with);
      if (fresh || found->second.join(with)) work.insert(to);
    };
    reach(entry, {});
    while (!work.empty() && budget_ != 0) {
      std::uint32_t i = *work.begin();
      work.erase(work.begin());
      Places now = in.at(i);
      // Straight on until ways part or meet.
      for (;; ++i) {
        if (--budget_ == 0) return;
        if (runs(i, Op::CALL)) {
          call(i, now, summary, reach);
        } else if (runs(i, Op::RET)) {
          returns(i, now, summary, reach);
        } else {
          now.step(code_, i);
        }
        const std::vector<std::uint32_t>& next = branches_.next[i];
        if (next.size() == 1 && next[0] == i + 1 && !in.contains(i + 1)) continue;
        const bool jumps = at(i).known && goes(at(i).inst.op) == Goes::kIndirect;
        for (const std::uint32_t to : next) {
          if (!jumps || same_function(i, to)) reach(to, now);
        }
        break;
      }
    }
  }

  [[nodiscard]] bool same_function(std::uint32_t i, std::uint32_t to) const {
    return entries_.upper_bound(i) == entries_.upper_bound(to);
  }

  template <typename Reach>
  void returns(std::uint32_t i, const Places& now, Summary& summary, Reach& reach) {
    const auto reg = target_register(i);
    Value to = reg ? now.get(*reg) : Value::anything();
    if (label(i) != Branches::kNowhere) to = plus(to, Value::of(Atom::kNumber, address(label(i))));
    back(i, {i}, to, now, summary, reach, true);
  }

  [[nodiscard]] std::uint32_t address(std::uint32_t i) const { return static_cast<std::uint32_t>(code_.address(i)); }

  // Control comes back to `to`, by the RETs `by`; what came to pass at instruction `i` is a RET or a CALL.
  template <typename Reach>
  void back(std::uint32_t i, const std::set<std::uint32_t>& by, const Value& to, const Places& now, Summary& summary,
            Reach& reach, bool sure) {
    const auto go = [&](std::uint32_t there) {
      for (const std::uint32_t r : by) out_.edges.insert({r, there});
      reach(there, now);
    };
    bool lost = to.is_anything();
    for (const Atom& a : to) {
      if (a.base >= 0) {
        if (summary.returns) {
          summary.places.join(now);
        } else {
          summary.places = now;
        }
        summary.returns = true;
        summary.to.add(a);
        summary.by.insert(by.begin(), by.end());
      } else if (const auto there = a.base == Atom::kNumber ? index_of(a.add) : std::nullopt) {
        go(*there);
      } else {
        lost = true;
      }
    }
    if (!lost) return;
    if (sure) say(i, "where it returns cannot be seen: not proven");
    if (!runs(i, Op::RET) && i + 1 < n_) go(i + 1);
  }

  template <typename Reach>
  void call(std::uint32_t i, Places& now, Summary& summary, Reach& reach) {
    const auto reg = target_register(i);
    bool outside = false;
    std::set<std::uint32_t> callees;
    bool sure = true;  // whom it calls is known
    if (!reg) {
      if (label(i) != Branches::kNowhere) callees.insert(label(i));
      if (label(i) == Branches::kNowhere) by_relocation(i, callees, outside);
    } else {
      const Value to = now.get(*reg);
      const std::uint32_t base = label(i) == Branches::kNowhere ? 0 : address(label(i));
      sure = !to.is_anything();
      for (const Atom& a : to) {
        const auto index = a.base == Atom::kNumber ? index_of(a.add + base) : std::nullopt;
        if (index) {
          callees.insert(*index);
        } else if (a.base == Atom::kExternal) {
          outside = true;
        } else {
          sure = false;
        }
      }
      if (!sure) {
        callees.insert(taken_.begin(), taken_.end());
        outside = true;
      }
    }
    for (const std::uint32_t callee : callees) {
      out_.edges.insert({i, callee});
      const auto [found, fresh] = functions_.try_emplace(callee);
      discovered_ = discovered_ || fresh;
      const Summary done = found->second;  // it may be this one
      if (!done.returns) continue;
      Places then = now;
      then.call(done.places);
      back(i, done.by, now.translated(done.to), then, summary, reach, sure);
    }
    if (!outside) return;
    out_.leaving.insert(i);
    Value to = now.get(kReturnRegister);
    const Atom* only = to.only();
    if (only == nullptr || only->base != Atom::kNumber || !index_of(only->add))
      to = Value::of(Atom::kNumber, address(i) + 16);
    back(i, {i}, to, now, summary, reach, false);
  }

  // CALL.ABS to an address that the loader puts in.
  void by_relocation(std::uint32_t i, std::set<std::uint32_t>& callees, bool& outside) {
    outside = true;
    for (const CodeRelocation& r : code_.kernel->relocations) {
      if (r.index != i || r.to != Relocation::To::kCode) continue;
      if (const auto index = index_of(r.value)) {
        callees.insert(*index);
        outside = false;
      }
    }
  }

  const Code& code_;
  const Branches& branches_;
  std::uint32_t n_;
  std::set<std::uint32_t> entries_;  // of functions
  std::set<std::uint32_t> taken_;    // whom a call through an unknown register may call
  std::map<std::uint32_t, Summary> functions_;
  bool discovered_ = false;  // another one
  std::size_t budget_ = 0;
  std::map<std::uint32_t, std::string> unproven_;
  CallEdges out_;
};

}  // namespace

CallEdges follow_calls(const Code& code, const Branches& branches) {
  return Follower(code, branches).run();
}

}  // namespace nervanagpu::sass::verify_detail

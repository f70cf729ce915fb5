// What names mean in a template: values, registers, texts; their scopes; and which registers are taken.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sass/asm/template/expr.h"
#include "sass/isa/access.h"
#include "sass/result.h"

namespace nervanagpu::sass {

// Consecutive registers of one file that a name stands for.
struct RegView {
  RegFile file = RegFile::kGpr;
  std::uint16_t base = 0;
  std::uint16_t count = 1;
  bool array = false;  // named with an index
  // Of one register: how many follow it in its array, and whether a macro's argument, which may be indexed, says so.
  std::uint16_t rest = 0;
  bool argument = false;
  bool raw = false;  // written by its number
};

unsigned register_limit(RegFile file);  // 255 for R, 63 for UR, 7 for P and UP
std::string_view register_prefix(RegFile file);
std::string register_text(RegFile file, unsigned number);  // "R12"
// "R12", "UR4", "P0", "UP1" (not RZ, PT, ...); the number may exceed the limit.
std::optional<RegView> raw_register(std::string_view name);
// Names that instructions use themselves: registers of every kind, RZ, PT, SB0, SR_..., and so on.
bool is_reserved_name(std::string_view name);

struct Binding {
  enum class Kind : std::uint8_t {
    kValue,     // .let, .for, -D: written {name} in instructions
    kArgument,  // a macro's argument that is a value: also without braces
    kText,      // a macro's argument that is text, already expanded where the macro was called
    kQuoted,    // a macro's argument in quotes
    kConst,     // .const: a constant bank operand
    kRegs,
    kFreed,  // .free
  };
  Kind kind = Kind::kValue;
  Value value;
  std::string text;  // kArgument (its spelling), kText, kQuoted, kConst
  RegView regs;
  Span at;  // where it was defined (kFreed: freed)
};

// With `.allocate live`: a name without a place, which gets its registers by its live range (allocate.h). Until then its
// registers have numbers that no register has.
inline constexpr std::uint32_t kFirstFree = 1024;
struct FreeName {
  std::string name;
  RegFile file = RegFile::kGpr;
  std::uint32_t first = kFirstFree;  // numbers [first, first + count), unique over all files
  std::uint32_t count = 1;
  std::uint32_t align = 1;
  std::optional<std::uint32_t> bank;
  bool array = false;
  Span at;
};

// Occupancy of the register files, shared by all scopes of an expansion.
class Registers {
 public:
  // What to reserve: at `fixed`, or at the lowest free base that fits.
  struct Request {
    RegFile file = RegFile::kGpr;
    std::uint32_t count = 1;
    std::uint32_t align = 1;
    std::optional<std::uint32_t> bank;
    std::optional<std::uint32_t> fixed;
  };
  explicit Registers(unsigned banks) : banks_(banks) {}

  // An error message, or the base.
  Result<std::uint32_t> reserve(const Request& request, const std::string& name);
  void release(const RegView& view);
  // A register written by its number; an error message if an automatically placed name owns it.
  std::optional<std::string> touch_raw(RegFile file, unsigned number);
  [[nodiscard]] unsigned banks() const { return banks_; }

  void allocate_by_live_range() { live_ = true; }
  [[nodiscard]] bool by_live_range() const { return live_; }
  // The first number of a new free name; none: there are no numbers left.
  std::optional<std::uint32_t> free_name(const Request& request, std::string name, bool array, Span at);
  // Registers that no free name may get.
  void keep_away(const RegView& view) { kept_away_.push_back(view); }
  [[nodiscard]] std::vector<FreeName>& free_names() { return free_names_; }
  [[nodiscard]] std::vector<RegView>& kept_away() { return kept_away_; }

 private:
  struct Slot {
    std::string owner;
    bool automatic = false;
    bool raw = false;  // named by number somewhere: never given out by itself
  };
  std::vector<Slot>& slots(RegFile file) { return files_[static_cast<std::size_t>(file)]; }
  std::array<std::vector<Slot>, 4> files_{std::vector<Slot>(255), std::vector<Slot>(63), std::vector<Slot>(7),
                                          std::vector<Slot>(7)};
  unsigned banks_;
  bool live_ = false;
  std::uint32_t next_free_ = kFirstFree;
  std::vector<FreeName> free_names_;
  std::vector<RegView> kept_away_;
};

class Scope {
 public:
  explicit Scope(Scope* parent) : parent_(parent) {}

  // The innermost meaning of `name`; null: none.
  [[nodiscard]] const Binding* find(std::string_view name) const;
  [[nodiscard]] const Binding* find_here(std::string_view name) const;
  Binding* find_mutable(std::string_view name);
  void set(std::string_view name, Binding binding);
  // Registers that go back when the scope ends.
  void own(std::string name, const RegView& view) { owned_.emplace_back(std::move(name), view); }
  bool disown(std::string_view name);  // in this scope or an outer one; false: nobody owns it
  void release_all(Registers& registers);
  [[nodiscard]] const Scope* parent() const { return parent_; }
  template <class F>
  void each(const F& f) const {
    for (const auto& [name, binding] : names_) f(name);
  }

 private:
  Scope* parent_;
  std::map<std::string, Binding, std::less<>> names_;
  std::vector<std::pair<std::string, RegView>> owned_;
};

// The names of a scope, as expressions see them, with the functions of names (bank, reg, count, defined, is_register,
// is_number).
class ScopeNames : public Names {
 public:
  ScopeNames(const Scope& scope, unsigned banks) : scope_(scope), banks_(banks) {}
  [[nodiscard]] std::optional<Value> value(std::string_view name) const override;
  [[nodiscard]] std::optional<Result<Value>> call(std::string_view function, std::string_view argument) const override;

 private:
  const Scope& scope_;
  unsigned banks_;
};

// "acc[2*i]", "tid", "R12": a register expression. None: `text` is not one. Columns of the Diag count from 1 in `text`.
std::optional<Result<RegView>> register_expression(std::string_view text, const Scope& scope, unsigned banks);

}  // namespace nervanagpu::sass

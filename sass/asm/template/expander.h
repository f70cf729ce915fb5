// The interpreter after expand(): walks the statements of one variant.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sass/asm/template/expand.h"
#include "sass/asm/template/manifest.h"
#include "sass/asm/template/names.h"
#include "sass/asm/template/substitute.h"
#include "sass/asm/template/template.h"

namespace nervanagpu::sass {

class Expander {
 public:
  Expander(const Template& source, Arch arch, const Defines& defines);
  Result<Expansion> run(const std::shared_ptr<const SourceText>& main);
  // Names that still need registers, and registers that none of them may get (allocate.h).
  [[nodiscard]] const std::vector<FreeName>& free_names() { return registers_.free_names(); }
  [[nodiscard]] const std::vector<RegView>& kept_away() { return registers_.kept_away(); }

 private:
  struct MacroParam {
    std::string name;
    bool has_default = false;
    std::string_view value;  // the default's text
    std::uint32_t col = 0;
  };
  // The instructions of a .stream, dealt from `next` on.
  struct Stream {
    std::vector<TextLine> lines;
    std::size_t next = 0;
    Span at;
  };
  struct Macro {
    std::shared_ptr<const SourceText> source;
    const Statement* statement = nullptr;
    std::vector<MacroParam> params;
  };
  // Where execution is: the file, the scope, the macro call and the way there.
  struct Place {
    std::shared_ptr<const SourceText> source;
    Scope* scope = nullptr;
    std::shared_ptr<const Origin> from;
    unsigned depth = 0;
    std::uint64_t call = 0;  // number of the innermost macro call
    bool top = false;        // top level of the main file
  };

  // --- expander.cpp: control flow and text
  Status block(const std::vector<Statement>& statements, const Place& place);
  Status scoped(const std::vector<Statement>& statements, Place place, Scope& scope);
  Status statement(const Statement& s, const Place& place);
  Status directive(const Statement& s, const Place& place);
  Status loop(const Statement& s, const Place& place);
  Status branch(const Statement& s, const Place& place);
  Status include(const Statement& s, const Place& place);
  Status text(const Statement& s, const Place& place);
  Status emit(const Statement& s, const Place& place, MappedText line);
  Status label(const Statement& s, const Place& place);
  Status message(const Statement& s, const Place& place);  // .error, .assert

  // --- streams.cpp: instructions set aside, to be dealt out among others
  Status stream(const Statement& s, const Place& place);
  Status deal(const Statement& s, const Place& place);
  [[nodiscard]] Status streams_used_up() const;
  Status schedule_block(const Statement& s, const Place& place);  // .schedule

  // --- macros.cpp
  Status define_macro(const Statement& s, const Place& place);
  Status call(const Statement& s, const Place& place, std::string_view name, std::string_view arguments,
              std::uint32_t arguments_col);
  Result<Binding> argument(std::string_view text, std::uint32_t col, const Statement& s, const Place& caller);

  // --- declare.cpp: names and front matter
  Status front_matter(const Statement& s, const Place& place);
  Status let(const Statement& s, const Place& place);
  Status constant(const Statement& s, const Place& place);
  Status registers(const Statement& s, const Place& place);
  Status one_register(const Statement& s, const Place& place, RegFile file, std::string_view item, std::uint32_t col);
  Status allocation(const Statement& s, const Place& place);  // .allocate
  Status reserve(const Statement& s, const Place& place);
  Status alias(const Statement& s, const Place& place);
  Status release(const Statement& s, const Place& place);
  Status new_name(const Statement& s, const Place& place, std::string_view name, std::uint32_t col);

  Status needs(const Statement& s, const Place& place);
  [[nodiscard]] Status needs_known() const;

  // --- helpers
  // `d`, whose column counts from 1 at `col`, at its place with its origins.
  Diag fail(const Statement& s, const Place& place, Diag d, std::uint32_t col) const;
  Diag fail(const Statement& s, const Place& place, std::uint32_t col, std::string message,
            std::vector<std::string> notes = {}) const;
  Result<std::int64_t> number(const Statement& s, const Place& place, std::string_view text, std::uint32_t col) const;
  // A number that must lie in [low, high]; `what` names it.
  Result<std::int64_t> number_in(const Statement& s, const Place& place, std::string_view text, std::uint32_t col,
                                 std::int64_t low, std::int64_t high, std::string_view what) const;
  [[nodiscard]] Surroundings surroundings(const Place& place);
  Result<std::string> interpolated(const Statement& s, const Place& place, std::string_view text, std::uint32_t col);

  const Template& template_;
  Expansion out_;
  Registers registers_;
  Scope globals_{nullptr};
  std::map<std::string, Macro, std::less<>> macros_;
  std::map<std::string, Stream, std::less<>> streams_;
  std::vector<TextLine>* sink_ = nullptr;  // where emit() puts a line: the output, or the stream being defined
  ScheduleMark mark_;                      // of the lines that go to the output now
  std::uint32_t schedule_blocks_ = 0;
  std::set<std::string, std::less<>> once_;  // front matter that was given
  // A condition of .needs, to be looked at when all parameters are known.
  struct Need {
    Diag place;        // without a message
    MappedText line;   // of .needs
    std::size_t from;  // where the condition begins there
  };
  std::vector<Need> needs_;  // one for each of the manifest's
  std::vector<std::shared_ptr<const SourceText>> sources_;
  std::uint64_t steps_ = 0;
  std::uint64_t calls_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace nervanagpu::sass

// Streams: instructions written as one text, set aside by .stream and dealt out among others by .deal.
#include <charconv>

#include "sass/asm/template/expander.h"
#include "sass/isa/op_facts.h"

namespace nervanagpu::sass {
namespace {

constexpr const char* kDealUsage = ".deal NAME, .deal NAME COUNT or .deal NAME over TURNS";

}  // namespace

Status Expander::stream(const Statement& s, const Place& place) {
  if (!is_name(s.text)) {
    return fail(s, place, s.text_col, ".stream needs a name, found `" + std::string(s.text.substr(0, 40)) + "`");
  }
  if (sink_ != &out_.lines) return fail(s, place, s.col, ".stream inside another .stream");
  Stream& defined = streams_[std::string(s.text)];
  if (defined.next < defined.lines.size()) {
    return fail(s, place, s.text_col,
                "stream `" + std::string(s.text) + "` still has " +
                    std::to_string(defined.lines.size() - defined.next) + " instructions that were not dealt");
  }
  defined = {{}, 0, {place.source->name, s.line, s.text_col}};
  sink_ = &defined.lines;
  Scope scope(place.scope);
  Status r = scoped(s.body, place, scope);
  sink_ = &out_.lines;
  return r;
}

Status Expander::deal(const Statement& s, const Place& place) {
  const std::string_view name = leading_name(s.text);
  const auto it = streams_.find(name);
  if (it == streams_.end()) {
    return fail(
        s, place, s.text_col,
        name.empty() ? std::string(".deal needs a stream's name") : "there is no stream `" + std::string(name) + "`",
        {kDealUsage});
  }
  if (sink_ != &out_.lines) return fail(s, place, s.col, ".deal inside .stream");
  Stream& from = it->second;
  const std::size_t left = from.lines.size() - from.next;
  std::size_t take = left;
  std::string_view rest = s.text.substr(name.size());
  if (!trim(rest).empty()) {
    const bool over = leading_name(trim(rest)) == "over";
    if (over) rest = rest.substr(rest.find("over") + 4);
    const auto col = s.text_col + static_cast<std::uint32_t>(rest.data() - s.text.data());
    const Result<std::int64_t> n = number_in(s, place, rest, col, over ? 1 : 0, static_cast<std::int64_t>(kMaxLines),
                                             over ? "the number of turns" : "the number of instructions");
    if (!n.ok()) return n.error();
    const auto count = static_cast<std::size_t>(*n);
    take = over ? (left + count - 1) / count : std::min(count, left);
  }
  if (out_.lines.size() + take > kMaxLines) {
    return fail(s, place, s.col, "the template expands to more than " + std::to_string(kMaxLines) + " lines");
  }
  for (; take > 0; --take) {
    out_.lines.push_back(std::move(from.lines[from.next++]));
    out_.lines.back().mark = mark_;  // it is scheduled where it is dealt
  }
  return Done{};
}

Status Expander::schedule_block(const Statement& s, const Place& place) {
  constexpr const char* kUsage = ".schedule [yields N] [independent global, shared, local]";
  if (mark_.block != 0) return fail(s, place, s.col, ".schedule inside another .schedule");
  if (sink_ != &out_.lines) return fail(s, place, s.col, ".schedule inside .stream; put it around the .deal");
  ScheduleMark mark{.block = ++schedule_blocks_};
  std::string_view rest = s.text;
  const auto column = [&] { return s.text_col + static_cast<std::uint32_t>(rest.data() - s.text.data()); };
  const auto skip_blanks = [&] { rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size())); };
  if (leading_name(rest) == "yields") {
    constexpr std::uint64_t kMost = 255;
    rest.remove_prefix(leading_name(rest).size());
    skip_blanks();
    const std::string_view number = rest.substr(0, rest.find_first_of(" \t"));
    std::uint64_t every = 0;
    const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), every);
    if (fault != std::errc() || end != number.data() + number.size() || every == 0 || every > kMost) {
      return fail(s, place, column(),
                  "yields is `" + std::string(number.substr(0, 40)) + "`; needs a number from 1 to 255", {kUsage});
    }
    mark.yields = static_cast<std::uint8_t>(every);
    rest.remove_prefix(number.size());
    skip_blanks();
  }
  if (!rest.empty()) {
    const std::string_view word = leading_name(rest);
    if (word != "independent") {
      return fail(s, place, column(), "expected `independent`, found `" + std::string(rest.substr(0, 40)) + "`",
                  {kUsage});
    }
    rest.remove_prefix(word.size());
    for (const Piece& piece : split_commas(rest)) {
      const std::string_view space = trim(piece.text);
      const std::uint8_t bit = space == "global"   ? kSpaceGlobal
                               : space == "shared" ? kSpaceShared
                               : space == "local"  ? kSpaceLocal
                                                   : 0;
      if (bit == 0) {
        const std::size_t skip = std::min(piece.text.find_first_not_of(" \t"), piece.text.size());
        return fail(s, place, column() + static_cast<std::uint32_t>(piece.offset + skip),
                    "there is no memory `" + std::string(space.substr(0, 40)) + "` here", {kUsage});
      }
      mark.independent |= bit;
    }
  }
  mark_ = mark;
  Scope scope(place.scope);
  Status r = scoped(s.body, place, scope);
  mark_ = {};
  return r;
}

Status Expander::streams_used_up() const {
  for (const auto& [name, stream] : streams_) {
    if (stream.next == stream.lines.size()) continue;
    return error_at(stream.at, "stream `" + name + "` has " + std::to_string(stream.lines.size() - stream.next) +
                                   " instructions that were never dealt");
  }
  return Done{};
}

}  // namespace nervanagpu::sass

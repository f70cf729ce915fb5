// Streams: instructions written as one text, set aside by .stream and dealt out among others by .deal.
#include "sass/asm/expander.h"

namespace nervanagpu::sass {
namespace {

constexpr const char* kDealUsage = ".deal NAME, .deal NAME COUNT or .deal NAME over TURNS";

std::string_view first_name(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_name_char(text[end])) ++end;
  return text.substr(0, end);
}

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
  const std::string_view name = first_name(s.text);
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
    const bool over = first_name(trim(rest)) == "over";
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
  for (; take > 0; --take) out_.lines.push_back(std::move(from.lines[from.next++]));
  return Done{};
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

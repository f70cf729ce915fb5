#include "sass/asm/cubin/manifest_text.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "sass/asm/cubin/text_fields.h"
#include "sass/asm/template/manifest.h"

namespace nervanagpu::sass {
namespace {

constexpr std::string_view kHeader = "nervanagpu-manifest";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kAnyU32 = std::numeric_limits<std::uint32_t>::max();

// Reads the records in the order in which manifest_text writes them; the first failure stays.
class Reader {
 public:
  explicit Reader(std::string_view text) : in_(text, "manifest") {}

  Result<Manifest> read() {
    advance();
    header();
    string("name", m_.name);
    string("op", m_.op);
    arch();
    while (at("variant")) variant();
    while (at("param")) param();
    number("threads", m_.threads);
    number("shared", m_.shared);
    number("registers", m_.registers);
    if (at("cluster")) count(m_.cluster);
    if (at("launch")) launch();
    while (at("needs")) {
      m_.needs.emplace_back();
      value(m_.needs.back());
    }
    string("accum", m_.accum);
    string("bound", m_.bound);
    while (at("word")) word();
    if (!failed_ && more_) fail(in_.fail("text after the last record"));
    if (failed_) return *failed_;
    return std::move(m_);
  }

 private:
  void fail(const Diag& diag) {
    if (!failed_) failed_ = diag;
  }

  void advance() {
    if (failed_) return;
    const auto line = in_.next_line();
    if (!line) return fail(line.error());
    more_ = *line;
  }

  // At a record `key`, and past the key.
  bool at(std::string_view key) { return !failed_ && more_ && in_.take_key(key); }

  bool need(std::string_view key) {
    if (at(key)) return true;
    fail(in_.fail("record '" + std::string(key) + "' is missing"));
    return false;
  }

  void field(std::string& to) {
    if (failed_) return;
    auto s = in_.string();
    if (!s) return fail(s.error());
    to = std::move(*s);
  }

  void value(std::string& to) {
    field(to);
    advance();
  }

  void launch() {
    std::string how;
    value(how);
    if (!failed_ && how != "programmatic") fail(in_.fail("launch is '" + how + "', not 'programmatic'"));
    m_.programmatic = true;
  }

  void string(std::string_view key, std::string& to) {
    if (need(key)) value(to);
  }

  void number(std::string_view key, std::uint32_t& to) {
    if (need(key)) count(to);
  }

  void count(std::uint32_t& to) {
    const auto n = in_.number(kAnyU32);
    if (!n) return fail(n.error());
    to = *n;
    advance();
  }

  void header() {
    if (!need(kHeader)) return;
    const auto version = in_.number(kAnyU32);
    if (!version) return fail(version.error());
    if (*version != kVersion) return fail(in_.fail("version " + std::to_string(*version) + ", need 1"));
    advance();
  }

  void arch() {
    if (!need("arch")) return;
    const auto name = in_.word();
    if (!name) return fail(name.error());
    const auto found = arch_from_name(*name);
    if (!found || info(*found).name != *name) return fail(in_.fail("unknown architecture"));
    m_.arch = *found;
    advance();
  }

  void variant() {
    std::string key;
    std::string chosen;
    field(key);
    field(chosen);
    if (!failed_ && !m_.variant.emplace(std::move(key), std::move(chosen)).second) {
      fail(in_.fail("a variant name comes twice"));
    }
    advance();
  }

  void param() {
    const auto type = in_.word();
    if (!type) return fail(type.error());
    const auto known = param_type_from(*type);
    if (!known) return fail(in_.fail("unknown parameter type"));
    const auto offset = in_.number(std::numeric_limits<std::uint16_t>::max());
    if (!offset) return fail(offset.error());
    Param p;
    p.type = *known;
    p.offset = static_cast<std::uint16_t>(*offset);
    field(p.name);
    m_.params.push_back(std::move(p));
    advance();
  }

  void word() {
    const auto index = in_.number(kAnyU32);
    if (!index) return fail(index.error());
    if (!m_.words.empty() && *index <= m_.words.back().index) return fail(in_.fail("words must come in order"));
    DeclaredWord w;
    w.index = *index;
    field(w.text);
    m_.words.push_back(std::move(w));
    advance();
  }

  FieldReader in_;
  Manifest m_;
  bool more_ = false;
  std::optional<Diag> failed_;
};

}  // namespace

std::string manifest_text(const Manifest& m) {
  std::string out = std::string(kHeader) + " " + std::to_string(kVersion) + "\n";
  const auto line = [&out](std::string_view key, const std::string& value) {
    out += key;
    out += ' ';
    out += value;
    out += '\n';
  };
  line("name", quoted(m.name));
  line("op", quoted(m.op));
  line("arch", std::string(info(m.arch).name));
  for (const auto& [key, value] : m.variant) line("variant", quoted(key) + " " + quoted(value));
  for (const Param& p : m.params) {
    line("param", std::string(name_of(p.type)) + " " + std::to_string(p.offset) + " " + quoted(p.name));
  }
  line("threads", std::to_string(m.threads));
  line("shared", std::to_string(m.shared));
  line("registers", std::to_string(m.registers));
  if (m.cluster > 1) line("cluster", std::to_string(m.cluster));
  if (m.programmatic) line("launch", quoted("programmatic"));
  for (const std::string& need : m.needs) line("needs", quoted(need));
  line("accum", quoted(m.accum));
  line("bound", quoted(m.bound));
  for (const DeclaredWord& w : m.words) line("word", std::to_string(w.index) + " " + quoted(w.text));
  return out;
}

const std::string* declared_at(const Manifest& m, std::uint32_t index) {
  const auto at = std::ranges::lower_bound(m.words, index, {}, &DeclaredWord::index);
  return at != m.words.end() && at->index == index ? &at->text : nullptr;
}

Result<Manifest> read_manifest(std::string_view text) {
  return Reader(text).read();
}

}  // namespace nervanagpu::sass

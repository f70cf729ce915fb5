// The list of tables, and the names that rows share.
#include <array>

#include "sass/isa/row.h"
#include "sass/isa/rows.h"

namespace nervanagpu::sass {

std::span<const std::span<const Row>> all_rows() {
  static const std::array tables = {
      rows_sm90_float(), rows_sm90_integer(), rows_sm90_memory(), rows_sm90_control(),
  };
  return tables;
}

namespace {
struct Special {
  unsigned number;
  std::string_view name;
};
constexpr Special kSpecial[] = {
#define SR(number, name) {number, name},
#include "sass/isa/special.inc"
#undef SR
};
}  // namespace

std::string_view special_register_name(unsigned number) {
  for (const Special& s : kSpecial) {
    if (s.number == number) return s.name;
  }
  return {};
}

int special_register_number(std::string_view name) {
  for (const Special& s : kSpecial) {
    if (s.name == name) return static_cast<int>(s.number);
  }
  return -1;
}

Tok alias_token(const Inst&) { return Tok::kNone; }

}  // namespace nervanagpu::sass

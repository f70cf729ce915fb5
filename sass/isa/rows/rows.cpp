// The list of tables, and the names that rows share.
#include <array>

#include "sass/isa/rows/row.h"
#include "sass/isa/rows/rows.h"

namespace nervanagpu::sass {

std::span<const std::span<const Row>> all_rows() {
  static const std::array tables = {
      rows128_float(),        rows128_integer(), rows128_half(),    rows128_uniform(), rows128_memory(),
      rows128_older_memory(), rows128_control(), rows128_texture(), rows128_tensor(),  rows128_gmma(),
      rows128_async(),        rows128_cluster(), rows64_float(),    rows64_half(),     rows64_video(),
      rows64_integer(),       rows64_convert(),  rows64_memory(),   rows64_control(),
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
#include "sass/isa/rows/special.inc"
#undef SR
};
constexpr Special kSpecial64[] = {
#define SR(number, name) {number, name},
#include "sass/isa/rows/special64.inc"
#undef SR
};
std::span<const Special> special_of(Encoding e) {
  return e == Encoding::k64 ? std::span<const Special>(kSpecial64) : std::span<const Special>(kSpecial);
}
}  // namespace

std::string_view special_register_name(Encoding encoding, unsigned number) {
  for (const Special& s : special_of(encoding)) {
    if (s.number == number) return s.name;
  }
  return {};
}

int special_register_number(Encoding encoding, std::string_view name) {
  for (const Special& s : special_of(encoding)) {
    if (s.name == name) return static_cast<int>(s.number);
  }
  return -1;
}

// IMAD with a zero factor moves its addend, with 1 adds, with a power of two shifts; nvdisasm writes so unless an operand
// is a uniform register or the factor is 0x10000.
Tok alias_token(const Inst& inst) {
  if (inst.row->alias != Alias::kImad) return Tok::kNone;
  const Operand& a = inst.operand_array[1];
  const Operand& b = inst.operand_array[2];
  const Operand& c = inst.operand_array[3];
  for (const Operand* o : {&a, &b, &c}) {
    if (o->kind == OperandKind::kUGpr || is_bindless(*o)) return Tok::kNone;
  }
  const auto zero = [](const Operand& o) { return o.kind == OperandKind::kGpr && o.reg == kRZ; };
  const bool b_imm = b.kind == OperandKind::kImm;
  if (zero(a) || zero(b) || (b_imm && b.imm == 0)) return Tok::MOV;
  if (!b_imm || b.imm < 1 || b.imm == 0x10000 || (b.imm & (b.imm - 1)) != 0) return Tok::kNone;
  if (b.imm == 1) return zero(c) ? Tok::MOV : Tok::IADD;
  return zero(c) ? Tok::SHL : Tok::kNone;
}

}  // namespace nervanagpu::sass

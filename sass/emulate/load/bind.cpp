#include "sass/emulate/load/bind.h"

#include <algorithm>
#include <array>
#include <bit>

#include "sass/emulate/engine/families.h"
#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/ops/families.h"
#include "sass/emulate/ops/memory/memory_forms.h"
#include "sass/emulate/tensor/families.h"
#include "sass/emulate/texture/families.h"
#include "sass/isa/rows/row.h"

namespace nervanagpu::sass::emulate {
namespace {

PredUse predicate_of(const Operand& o) {
  const bool uniform = o.kind == OperandKind::kUPred;
  return {static_cast<std::uint8_t>(o.reg + (uniform ? preds::kUniform : 0)), o.inv};
}

Src source_of(const Operand& o) {
  Src s;
  s.neg = o.neg;
  s.abs = o.abs;
  s.inv = o.inv;
  s.sub = o.sub;
  switch (o.kind) {
    case OperandKind::kGpr:
      s.kind = Src::Kind::kRow;
      s.row = rows::use(o.reg);
      break;
    case OperandKind::kUGpr:
      s.kind = Src::Kind::kUniform;
      s.bits = o.reg;
      break;
    case OperandKind::kConst:
      s.kind = is_bindless(o) ? Src::Kind::kDescribed : Src::Kind::kConst;
      s.bits = static_cast<std::uint32_t>(o.imm);
      if (o.ureg != kNoReg) s.bits_hi = o.ureg;
      if (o.reg != kNoReg) s.row = rows::use(o.reg);  // LDC's index
      break;
    default:
      s.kind = Src::Kind::kImm;
      s.bits = static_cast<std::uint32_t>(o.imm);
      s.bits_hi = static_cast<std::uint32_t>(static_cast<std::uint64_t>(o.imm) >> 32);
  }
  return s;
}

Address address_of(const Operand& o) {
  Address a;
  a.wide = o.width == 2 && o.sub != Tok::U32;
  if (o.reg != kNoReg) a.base = rows::use(o.reg);
  if (o.ureg != kNoReg) {
    a.ureg = o.ureg;
    a.uwidth = o.uwidth;
  }
  a.offset = static_cast<std::int32_t>(o.imm);
  a.shift = o.sub == Tok::X4 ? 2 : o.sub == Tok::X8 ? 3 : o.sub == Tok::X16 ? 4 : 0;
  return a;
}

// Their results are two groups of registers, which bind_texture reads by itself.
bool is_fetch(const Inst& inst) {
  return std::ranges::any_of(inst.row->slots(), [](const Slot& s) { return s.width == Width::kTexLow; });
}

void operands(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  bool have_dst = false;
  for (const Operand& o : inst.operands()) {
    switch (o.kind) {
      case OperandKind::kGpr:
      case OperandKind::kUGpr:
        if (o.role != Role::kUse) {
          if (have_dst && !is_fetch(inst)) b.refuse("two results");
          have_dst = true;
          x.to_uniform = o.kind == OperandKind::kUGpr;
          x.dst = x.to_uniform ? uregs::def(o.reg) : rows::def(o.reg);
          x.width = o.width;
        }
        if (o.role != Role::kDef && x.src_count < x.src.size()) x.src[x.src_count++] = source_of(o);
        break;
      case OperandKind::kPred:
      case OperandKind::kUPred:
        if (o.role != Role::kUse && x.pdst_count < x.pdst.size()) {
          const PredUse p = predicate_of(o);
          x.pdst[x.pdst_count++] = o.reg == kPT ? preds::kDump : p.index;
        }
        if (o.role != Role::kDef && x.puse_count < x.puse.size()) x.puse[x.puse_count++] = predicate_of(o);
        break;
      case OperandKind::kConst:
        if (is_bindless(o)) {
          if (x.src_count < x.src.size()) x.src[x.src_count++] = source_of(o);
          break;
        }
        if (bank_slot(o.bank) < 0) b.refuse("constant bank " + std::to_string(o.bank));
        if (x.src_count < x.src.size()) {
          Src& src = x.src[x.src_count++] = source_of(o);
          if (unit(inst) == Unit::kMemConst) break;  // its offset is only known when it runs
          if (src.bits >= 0x10000) b.refuse("constant offset out of the bank");
          src.bits += static_cast<std::uint32_t>(std::max(bank_slot(o.bank), 0)) * kConstantBank;
        }
        break;
      case OperandKind::kImm:
        if (x.src_count < x.src.size()) x.src[x.src_count++] = source_of(o);
        break;
      case OperandKind::kAddr:
        if (x.address_count < x.address.size()) x.address[x.address_count++] = address_of(o);
        break;
      default: break;
    }
  }
}

const Uop* guarded(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const std::uint32_t lanes = w.active & predicate(w, x.guard);
  if (lanes == 0) return u + 1;
  // A uniform instruction executes once for the warp, whatever lanes are here.
  w.exec = lanes;
  const Uop* next = x.body(w, u);
  w.exec = w.active;
  return next;
}

// What is compiled for each set of the host's vector instructions.
struct Lanewise {
  Family xmad, integer64, logic64, compare64, floats, integer, logic, compare, shared;
};

// Those of the 64-bit encodings first: they take what means something else there.
constexpr auto families_with(const Lanewise& own) {
  return std::to_array<Family>(
      {own.xmad,      own.integer64, own.logic64,    own.compare64,    bind_stack,   bind_convert64, bind_video,
       own.floats,    own.integer,   own.logic,      own.compare,      own.shared,   bind_control,   bind_barrier,
       bind_mbarrier, bind_cluster,  bind_registers, bind_copy_engine, bind_special, bind_memory,    bind_atomic,
       bind_texture,  bind_surface,  bind_exchange,  bind_matrix,      bind_mma,     bind_gmma,      bind_convert,
       bind_double,   bind_mufu,     bind_half,      nullptr});
}

// nullptr-terminated; chosen once for this machine's vector instructions.
const Family* families() {
  static constexpr auto kBaseline =
      families_with({baseline::bind_xmad, baseline::bind_integer64, baseline::bind_logic64, baseline::bind_compare64,
                     baseline::bind_float, baseline::bind_integer, baseline::bind_logic, baseline::bind_compare,
                     baseline::bind_shared});
#if defined(__x86_64__)
  static constexpr auto kAvx2 =
      families_with({avx2::bind_xmad, avx2::bind_integer64, avx2::bind_logic64, avx2::bind_compare64, avx2::bind_float,
                     avx2::bind_integer, avx2::bind_logic, avx2::bind_compare, avx2::bind_shared});
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  if (has_avx2) return kAvx2.data();
#endif
  return kBaseline.data();
}

}  // namespace

bool bind(Arch arch, const Inst& inst, std::uint32_t index, Binding& b) {
  Detail& x = b.detail;
  x.index = index;
  operands(inst, b);
  x.guard = {static_cast<std::uint8_t>(inst.guard.pred + (inst.guard.uniform ? preds::kUniform : 0)), inst.guard.inv};
  x.round = round_of(inst);
  x.ftz = inst.has(Axis::kFtz, Tok::FTZ) || inst.has(Axis::kFtz, Tok::FMZ);
  x.sat = inst.has(Axis::kSat, Tok::SAT);
  x.extended = inst.has(Axis::kExtended, Tok::X) || inst.has(Axis::kExtended, Tok::EX);
  x.is_signed = !inst.has(Axis::kSigned, Tok::U32);
  for (const Operand& o : inst.operands()) {
    if (o.kind != OperandKind::kLabel) continue;
    const std::int64_t at = o.imm < 0 ? -1 : index_at(info(arch).encoding, static_cast<std::uint64_t>(o.imm));
    if (at < 0 || at > 0xffffff) b.refuse("branch target " + std::to_string(o.imm));
    x.target = static_cast<std::uint32_t>(at);
  }
  bool known = false;
  for (const Family* f = families(); *f != nullptr && !known; ++f) known = (*f)(inst, b);
  if (!known) b.refuse("no such operation in the emulator");
  if (sets_cc(inst) && !b.knows_cc) b.refuse("a result that sets CC");
  bind_described(inst, b);
  if (!b.refused.empty()) return false;

  const bool always = x.guard.index % 8 == kPT && x.guard.index <= preds::kUniform + kPT && !x.guard.inv;
  const auto row = [&](unsigned i) { return x.src[i].kind == Src::Kind::kRow ? x.src[i].row : rows::kZero; };
  b.uop.d = x.dst;
  b.uop.a = row(0);
  b.uop.b = row(1);
  b.uop.c = row(2);
  if (!always) b.uop.run = guarded;
  if (b.uop.run == nullptr) b.uop.run = x.body;
  return true;
}

}  // namespace nervanagpu::sass::emulate

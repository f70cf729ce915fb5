#include "sass/isa/rows/table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>

namespace nervanagpu::sass {
namespace {

// Buckets: the low 12 opcode bits and bit 91 (128-bit family), the top byte (64-bit family).
struct Index {
  std::vector<std::vector<const Row*>> bucket;
  std::vector<std::vector<const Row*>> by_op;
  std::vector<Op> ops;

  static unsigned key(Encoding e, const Word& w) {
    if (e == Encoding::k64) return static_cast<unsigned>(w.lo >> 56);
    return static_cast<unsigned>(w.lo & 0xfff) | static_cast<unsigned>(get_bits(w, 91, 1) << 12);
  }

  static Word word_of(Encoding e, unsigned k) {
    if (e == Encoding::k64) return {std::uint64_t{k} << 56, 0};
    return set_bits({k & 0xfffULL, 0}, 91, 1, k >> 12);
  }

  explicit Index(Arch arch) {
    const Encoding e = info(arch).encoding;
    bucket.resize(e == Encoding::k64 ? 256 : 8192);
    const Word key_bits = e == Encoding::k64 ? Word{0xffULL << 56, 0} : Word{0xfff, 0} | bit_range(91, 1);
    for (const std::span<const Row> rows : all_rows()) {
      for (const Row& r : rows) {
        if ((r.archs & mask_of(arch)) == 0) continue;
        const Word m = r.fixed_mask & key_bits;
        if (m == key_bits) {
          bucket[key(e, r.fixed)].push_back(&r);
        } else {
          for (unsigned k = 0; k < bucket.size(); ++k) {
            if (!((word_of(e, k) ^ r.fixed) & m).any()) bucket[k].push_back(&r);
          }
        }
        const auto op = static_cast<std::size_t>(r.op);
        if (by_op.size() <= op) by_op.resize(op + 1);
        if (by_op[op].empty()) ops.push_back(r.op);
        by_op[op].push_back(&r);
      }
    }
  }
};

const Index& index_of(Arch arch) {
  static std::array<std::once_flag, 32> once;
  static std::array<const Index*, 32> index;  // never destroyed: a thread may assemble at exit
  const auto i = static_cast<std::size_t>(arch);
  std::call_once(once[i], [&] { index[i] = new Index(arch); });
  return *index[i];
}

}  // namespace

std::span<const Row* const> rows_for(Arch arch, const Word& word) {
  return index_of(arch).bucket[Index::key(info(arch).encoding, word)];
}

std::span<const Row* const> rows_for(Arch arch, Op op) {
  const Index& x = index_of(arch);
  const auto i = static_cast<std::size_t>(op);
  if (i >= x.by_op.size()) return {};
  return x.by_op[i];
}

std::span<const Op> ops_of(Arch arch) {
  return index_of(arch).ops;
}

std::vector<Op> ops_at(Arch arch, std::string_view text) {
  std::vector<Op> found;
  for (const Op op : ops_of(arch)) {
    const std::string_view name = op_text(op);
    if (text.substr(0, name.size()) != name) continue;
    if (text.size() > name.size() && text[name.size()] != '.' && text[name.size()] != ' ' &&
        text[name.size()] != '\t' && text[name.size()] != ';') {
      continue;
    }
    found.push_back(op);
  }
  std::sort(found.begin(), found.end(), [](Op a, Op b) { return op_text(a).size() > op_text(b).size(); });
  return found;
}

namespace {

// The geometry of a texture fetch stands in its text as an operand.
Tok geometry_of(const Inst& inst) {
  for (std::size_t i = 0; i < inst.operand_count; ++i) {
    if (inst.row->slot_array[i].type == SlotType::kToken) return inst.operand_array[i].sub;
  }
  return Tok::kNone;
}

std::uint8_t dimensions(Tok geometry) {
  switch (geometry) {
    case Tok::k1D:
    case Tok::ARRAY_1D:
    case Tok::k1D_BUFFER:
    case Tok::k1D_ARRAY: return 1;
    case Tok::k2D:
    case Tok::ARRAY_2D:
    case Tok::k2D_ARRAY: return 2;
    default: return 3;
  }
}

std::uint8_t coordinates(Tok geometry) {
  switch (geometry) {
    case Tok::ARRAY_1D:
    case Tok::ARRAY_2D:
    case Tok::ARRAY_3D:
    case Tok::ARRAY_CUBE:
    case Tok::k1D_ARRAY:
    case Tok::k2D_ARRAY: return static_cast<std::uint8_t>(dimensions(geometry) + 1);
    default: return dimensions(geometry);
  }
}

std::uint8_t components(const Inst& inst) {
  const auto mask = static_cast<std::uint64_t>(inst.operand_array[inst.operand_count - 1U].imm);
  return static_cast<std::uint8_t>(std::popcount(mask & 15));
}

// Two components to a register.
bool in_halves(const Inst& inst) {
  return inst.has(Axis::kDstType, Tok::F16_RN) || inst.has(Axis::kDstType, Tok::F16_RZ);
}

// A level of detail or a bias, a clamp of it, texel offsets, a depth reference, a sample: each takes one register.
int extras(const Inst& inst) {
  const Tok lod = inst.mod(Axis::kLod);
  int n = lod == Tok::LL || lod == Tok::LB || lod == Tok::LC || lod == Tok::LC_FDV ? 1 : lod == Tok::LB_LC ? 2 : 0;
  if (inst.has(Axis::kOffsets, Tok::AOFFI)) ++n;
  if (inst.has(Axis::kOffsets, Tok::PTP)) n += 2;
  if (inst.has(Axis::kDepth, Tok::DC) || inst.has(Axis::kDepth, Tok::MS)) ++n;
  return n;
}

// What a fetch takes beside its name: coordinates, what else it asks for, and a handle in registers.
int fetch_inputs(const Inst& inst) {
  const bool handle = inst.has(Axis::kMode2, Tok::B);
  return coordinates(geometry_of(inst)) + extras(inst) + (handle ? 1 : 0);
}

// .SCR: up to four inputs lie in two groups, the first of them in the register of the coordinates: 1 + 0, 1 + 1, 2 + 1, 2 + 2.
bool in_two_groups(const Inst& inst) {
  return inst.has(Axis::kPack, Tok::SCR) && fetch_inputs(inst) <= 4;
}
std::uint8_t first_group(const Inst& inst) {
  return fetch_inputs(inst) <= 2 ? 1 : 2;
}
std::uint8_t second_group(const Inst& inst) {
  return static_cast<std::uint8_t>(std::max(fetch_inputs(inst) - first_group(inst), 1));
}

}  // namespace

unsigned product_columns(const Inst& inst) {
  const auto tok = static_cast<unsigned>(inst.mod(Axis::kShape)) - static_cast<unsigned>(Tok::M64xN8);
  return tok < 32 ? 8 * (tok + 1) : 0;
}

unsigned tensor_dims(const Inst& inst) {
  switch (inst.mod(Axis::kDims)) {
    case Tok::k1D: return 1;
    case Tok::k2D: return 2;
    case Tok::k3D: return 3;
    case Tok::k4D: return 4;
    default: return 5;
  }
}

std::uint8_t width_of(Width w, const Inst& inst) {
  const auto bytes = [](Tok t) -> std::uint8_t {
    switch (t) {
      case Tok::k64:
      case Tok::U64:
      case Tok::S64:
      case Tok::F64:
      case Tok::F64_RN:
      case Tok::F16x4_RN:
      case Tok::BF16x4_RN:
      case Tok::F32x2_RN:
      case Tok::F32x2_FTZ_RN: return 2;
      case Tok::k128:
      case Tok::U_128:
      case Tok::F16x8_RN:
      case Tok::BF16x8_RN:
      case Tok::F32x4_RN:
      case Tok::F32x4_FTZ_RN: return 4;
      default: return 1;
    }
  };
  switch (w) {
    case Width::k1: return 1;
    case Width::k2: return 2;
    case Width::k3: return 3;
    case Width::k4: return 4;
    case Width::k8: return 8;
    case Width::kSize: return bytes(inst.mod(Axis::kSize));
    case Width::kType: return bytes(inst.mod(Axis::kType));
    case Width::kTypeCas: return static_cast<std::uint8_t>(2 * bytes(inst.mod(Axis::kType)));
    case Width::kDstType: return bytes(inst.mod(Axis::kDstType));
    case Width::kAddress: return inst.has(Axis::kWide, Tok::E) ? 2 : 1;
    case Width::kSrcType: return bytes(inst.mod(Axis::kSrcType));
    case Width::kTexLow:
      if (in_halves(inst)) return 1;
      return std::clamp<std::uint8_t>(components(inst), 1, 2);
    case Width::kTexHigh: return components(inst) == 4 && !in_halves(inst) ? 2 : 1;
    case Width::kTexCoord: return in_two_groups(inst) ? first_group(inst) : coordinates(geometry_of(inst));
    case Width::kTexExtra:
      if (in_two_groups(inst)) return second_group(inst);
      return static_cast<std::uint8_t>(std::clamp(extras(inst), 1, 4));
    case Width::kTexHandleCoord: return static_cast<std::uint8_t>(coordinates(geometry_of(inst)) + 1);
    case Width::kTexHandleExtra:
      if (in_two_groups(inst)) return second_group(inst);
      return static_cast<std::uint8_t>(extras(inst) + 1);
    case Width::kTexSlopes: return static_cast<std::uint8_t>(2 * dimensions(geometry_of(inst)));
    case Width::kSurface: return coordinates(inst.mod(Axis::kGeometry));
    case Width::k16: return 16;
    case Width::kProduct: return inst.has(Axis::kDstType, Tok::F16) ? 2 : 4;
    case Width::kGroupProduct:
      return static_cast<std::uint8_t>(product_columns(inst) / (inst.has(Axis::kDstType, Tok::F16) ? 4 : 2));
    case Width::kTensorLoad: return static_cast<std::uint8_t>(tensor_dims(inst) + 2);
    case Width::kTensorStore: return static_cast<std::uint8_t>(tensor_dims(inst) + 1);
    case Width::kTensorPrefetch: return static_cast<std::uint8_t>(tensor_dims(inst));
    case Width::kCount: {
      const Tok t = inst.mod(Axis::kMode2);
      return t == Tok::k4 ? 4 : t == Tok::k2 ? 2 : 1;
    }
  }
  return 1;
}

std::uint8_t tied_register(const Inst& inst, std::size_t i) {
  const Slot& s = inst.row->slot_array[i];
  if (s.tie == Tie::kFirst) return inst.operand_array[0].reg;
  const std::uint8_t before = inst.operand_array[i - 1].reg;
  return before == kRZ ? before : static_cast<std::uint8_t>(before + width_of(s.width, inst));
}

Operand blank_operand(const Slot& s) {
  Operand o;
  o.role = s.role;
  o.slot = s.reuse_slot;
  switch (s.type) {
    case SlotType::kGpr:
      o.kind = OperandKind::kGpr;
      o.reg = static_cast<std::uint8_t>(s.show == Show::kAlways ? kRZ : s.omitted);
      break;
    case SlotType::kGroup:
      o.kind = OperandKind::kGroup;
      o.imm = kNoGroup;
      break;
    case SlotType::kHiddenDesc:
    case SlotType::kUGpr:
    case SlotType::kDescriptor:
      o.kind = OperandKind::kUGpr;
      o.reg = static_cast<std::uint8_t>(s.show == Show::kAlways ? kURZ : s.omitted);
      break;
    case SlotType::kPred:
    case SlotType::kUPred:
      o.kind = s.type == SlotType::kPred ? OperandKind::kPred : OperandKind::kUPred;
      o.reg = static_cast<std::uint8_t>(s.show == Show::kAlways ? kPT : s.omitted & 7);
      o.inv = s.show != Show::kAlways && s.omitted >= 8;
      break;
    case SlotType::kBarrierReg: o.kind = OperandKind::kBarrierReg; break;
    case SlotType::kImm:
      o.kind = OperandKind::kImm;
      o.imm = s.omitted;
      break;
    case SlotType::kConst:
      o.kind = OperandKind::kConst;
      o.reg = kRZ;
      break;
    case SlotType::kAddr:
      o.kind = OperandKind::kAddr;
      o.reg = s.index.none() ? kNoReg : kRZ;
      if (!s.ureg.none()) o.ureg = kURZ;
      if (!s.desc.none()) o.desc = kURZ;
      break;
    case SlotType::kLabel: o.kind = OperandKind::kLabel; break;
    case SlotType::kSpecialReg: o.kind = OperandKind::kSpecialReg; break;
    case SlotType::kScoreboard: o.kind = OperandKind::kScoreboard; break;
    case SlotType::kSet: o.kind = OperandKind::kSet; break;
    case SlotType::kCc: o.kind = OperandKind::kCc; break;
    default: break;
  }
  return o;
}

void set_widths(Inst& inst) {
  for (std::size_t i = 0; i < inst.operand_count; ++i) {
    const Slot& s = inst.row->slot_array[i];
    Operand& o = inst.operand_array[i];
    if (s.type == SlotType::kAddr) {
      o.width = width_of(s.base_width, inst);
      o.uwidth = width_of(s.ureg_width, inst);
    } else {
      o.width = width_of(s.width, inst);
      o.uwidth = s.type == SlotType::kConst ? width_of(s.ureg_width, inst) : std::uint8_t{1};
    }
  }
}

}  // namespace nervanagpu::sass

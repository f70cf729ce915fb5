#include "sass/verify/address.h"

#include <algorithm>
#include <limits>

#include "sass/verify/finding.h"

namespace nervanagpu::sass::verify_detail {
namespace {

constexpr unsigned kSlotBytes = 4;

bool whole_words(const Inst& inst) {
  switch (inst.mod(Axis::kSize)) {
    case Tok::U8:
    case Tok::S8:
    case Tok::U16:
    case Tok::S16: return false;
    default: return true;
  }
}

bool is_general(const Operand& o) {
  return o.kind == OperandKind::kGpr || o.kind == OperandKind::kUGpr;
}

bool is_zero(const Operand& o) {
  return (o.kind == OperandKind::kGpr && o.reg == kRZ) || (o.kind == OperandKind::kUGpr && o.reg == kURZ);
}

Location location(const Operand& o, unsigned k = 0) {
  return o.kind == OperandKind::kUGpr ? uniform_location(o.reg + k) : static_cast<Location>(o.reg + k);
}

// What the loader puts into c[0x4][offset]: the half of an address at a multiple of 8 that tells which it is.
Value loaded(const Code& code, std::int64_t offset) {
  if (code.data == nullptr) return Value::anything();
  for (const Relocation& r : code.data->in_constant4) {
    if (r.offset != offset) continue;
    if (r.to == Relocation::To::kFunction) return Value::of(Atom::kExternal, static_cast<std::uint32_t>(r.value));
    if (r.to == Relocation::To::kCode) return Value::of(Atom::kNumber, static_cast<std::uint32_t>(r.value));
  }
  return Value::anything();
}

}  // namespace

void Value::add(const Atom& atom) {
  if (anything_) return;
  Atom* const last = atoms_.data() + count_;
  Atom* const at = std::lower_bound(atoms_.data(), last, atom);
  if (at != last && *at == atom) return;
  if (count_ == kMost) {
    *this = anything();
    return;
  }
  std::copy_backward(at, last, last + 1);
  *at = atom;
  ++count_;
}

void Value::join(const Value& other) {
  if (other.anything_) *this = anything();
  for (const Atom& a : other) add(a);
}

// Only of single things: sums of sets would grow in loops.
Value plus(const Value& a, const Value& b) {
  const Value zero = Value::of(Atom::kNumber, 0);
  if (b == zero) return a;
  if (a == zero) return b;
  const Atom* x = a.only();
  const Atom* y = b.only();
  if (x == nullptr || y == nullptr) return Value::anything();
  if (x->base == Atom::kNumber) std::swap(x, y);
  if (y->base != Atom::kNumber || (x->base == Atom::kExternal && y->add != 0)) return Value::anything();
  return Value::of(x->base, x->add + y->add);
}

Value minus(const Value& a) {
  const Atom* x = a.only();
  return x != nullptr && x->base == Atom::kNumber ? Value::of(Atom::kNumber, 0u - x->add) : Value::anything();
}

Value Places::get(Location at) const {
  const auto found = std::ranges::lower_bound(listed_, at, {}, &Entry::at);
  return found != listed_.end() && found->at == at ? found->value : Value::of(at);
}

void Places::set(Location at, const Value& value) {
  const auto found = std::ranges::lower_bound(listed_, at, {}, &Entry::at);
  if (found != listed_.end() && found->at == at) {
    found->value = value;
  } else {
    listed_.insert(found, {at, value});
  }
}

bool Places::join(const Places& other) {
  bool changed = false;
  const auto meet = [&](Location at) {
    Value now = get(at);
    now.join(other.get(at));
    if (now == get(at)) return;
    set(at, now);
    changed = true;
  };
  for (const Entry& e : other.listed_) meet(e.at);
  for (std::size_t k = 0; k < listed_.size(); ++k) meet(listed_[k].at);  // grows no more
  return changed;
}

Value Places::operand(const Code& code, const Operand& o) const {
  if (o.abs || o.inv) return Value::anything();
  Value v = Value::anything();
  if (is_zero(o)) {
    v = Value::of(Atom::kNumber, 0);
  } else if (is_general(o)) {
    v = get(location(o));
  } else if (o.kind == OperandKind::kImm) {
    return Value::of(Atom::kNumber, static_cast<std::uint32_t>(o.imm));  // its sign is in it
  } else if (o.kind == OperandKind::kConst && o.bank == 4 && o.ureg == kNoReg) {
    const Value index = o.reg == kNoReg || o.reg == kRZ ? Value::of(Atom::kNumber, 0) : get(o.reg);
    const Atom* only = index.only();
    if (only != nullptr && only->base == Atom::kNumber) v = loaded(code, std::int64_t{only->add} + o.imm);
  }
  return o.neg ? minus(v) : v;
}

// What instruction `i` puts into its first operand.
Value Places::computed(const Code& code, std::uint32_t i) const {
  const Inst& inst = code.steps[i].inst;
  const std::span<const Operand> o = inst.operands();
  const Value unknown = Value::anything();
  switch (inst.op) {
    case Op::MOV:
    case Op::UMOV:
    case Op::R2UR: {
      for (std::size_t k = 1; k < o.size(); ++k) {
        if (o[k].role == Role::kUse && o[k].kind != OperandKind::kPred) return operand(code, o[k]);
      }
      return unknown;
    }
    case Op::LDC:
    case Op::ULDC: return whole_words(inst) ? operand(code, o[1]) : unknown;
    case Op::IMAD: {
      if (inst.operand_count != 4 || inst.mod(Axis::kExtended) != Tok::kNone) return unknown;
      if (is_zero(o[1]) || is_zero(o[2])) return operand(code, o[3]);
      const Value factor = operand(code, o[2]);
      const Atom* one = factor.only();
      const bool sum = one != nullptr && one->base == Atom::kNumber && one->add == 1;
      return sum ? plus(operand(code, o[1]), operand(code, o[3])) : unknown;
    }
    case Op::HFMA2:  // how ptxas also moves a number
      if (inst.operand_count != 4 || !is_zero(o[1]) || !is_zero(o[2]) || o[3].kind != OperandKind::kImm) return unknown;
      return inst.mod(Axis::kFtz) == Tok::kNone ? operand(code, o[3]) : unknown;
    case Op::IADD3:
    case Op::UIADD3:
    case Op::VIADD: {
      if (inst.mod(Axis::kExtended) != Tok::kNone) return unknown;
      Value sum = Value::of(Atom::kNumber, 0);
      for (std::size_t k = 1; k < o.size(); ++k) {
        if (o[k].role != Role::kUse || o[k].kind == OperandKind::kPred || o[k].kind == OperandKind::kUPred) continue;
        sum = plus(sum, operand(code, o[k]));
      }
      return sum;
    }
    case Op::SEL: {
      if (inst.operand_count < 3) return unknown;
      Value both = operand(code, o[1]);
      both.join(operand(code, o[2]));
      return both;
    }
    case Op::LEPC: {
      for (const Operand& p : o) {
        if (p.kind == OperandKind::kLabel) return Value::of(Atom::kNumber, static_cast<std::uint32_t>(p.imm));
      }
      return Value::of(Atom::kNumber, static_cast<std::uint32_t>(code.address(i)));  // sm_75 .. sm_89: its own
    }
    default: return unknown;
  }
}

// The place of the stack that LDL or STL accesses.
bool Places::slots_at(const Inst& inst, std::int32_t& offset) const {
  for (const Operand& o : inst.operands()) {
    if (o.kind != OperandKind::kAddr) continue;
    if (o.reg == kNoReg || o.reg == kRZ || o.ureg != kNoReg) return false;
    const Value base = get(o.reg);
    const Atom* only = base.only();
    if (only == nullptr || only->base != kStackPointer) return false;
    offset = static_cast<std::int32_t>(only->add + static_cast<std::uint32_t>(o.imm));
    return true;
  }
  return false;
}

void Places::store(const Inst& inst) {
  // A store to a computed place goes to an array, not to where an address was spilled.
  std::int32_t offset = 0;
  const Operand& data = inst.operands().back();
  if (!slots_at(inst, offset) || data.kind != OperandKind::kGpr) return;
  const bool exact = whole_words(inst) && offset % static_cast<int>(kSlotBytes) == 0;
  const std::int32_t first =
      offset - (offset % static_cast<int>(kSlotBytes) + static_cast<int>(kSlotBytes)) % static_cast<int>(kSlotBytes);
  const unsigned slots = data.width + (exact || first == offset ? 0u : 1u);
  for (unsigned k = 0; k < slots; ++k) {
    const Location at = slot(first + static_cast<std::int32_t>(k * kSlotBytes));
    Value v = Value::anything();
    if (exact) v = data.reg == kRZ ? Value::of(Atom::kNumber, 0) : get(data.reg + k);
    if (!always_runs(inst)) v.join(get(at));
    set(at, v);
  }
}

void Places::load(const Code& code, std::uint32_t i) {
  const Inst& inst = code.steps[i].inst;
  const Operand& to = inst.operands().front();
  std::int32_t offset = 0;
  const bool known = whole_words(inst) && slots_at(inst, offset) && offset % static_cast<int>(kSlotBytes) == 0;
  if (to.kind != OperandKind::kGpr || to.reg == kRZ) return;
  std::array<Value, 4> values;
  const unsigned count = std::min<unsigned>(to.width, values.size());
  for (unsigned k = 0; k < count; ++k) {
    values[k] = known ? get(slot(offset + static_cast<std::int32_t>(k * kSlotBytes))) : Value::anything();
    if (!always_runs(inst)) values[k].join(get(to.reg + k));
  }
  for (unsigned k = 0; k < count; ++k) set(to.reg + k, values[k]);
}

void Places::step(const Code& code, std::uint32_t i) {
  const Step& s = code.steps[i];
  if (!s.known || s.never) return;
  if (s.inst.op == Op::STL) return store(s.inst);
  if (s.inst.op == Op::LDL) return load(code, i);
  const Operand* first = s.inst.operand_count == 0 ? nullptr : s.inst.operands().data();
  const bool moves = first != nullptr && is_general(*first) && first->role == Role::kDef;
  const Value value = moves ? computed(code, i) : Value::anything();
  const Places before = always_runs(s.inst) ? Places{} : *this;
  for (const Access& a : s.touched) {
    if (!a.write || (a.file != RegFile::kGpr && a.file != RegFile::kUGpr)) continue;
    for (unsigned k = 0; k < a.count; ++k) {
      const Location at = a.file == RegFile::kGpr ? Location{a.first + k} : uniform_location(a.first + k);
      const bool low = moves && at == location(*first);
      Value v = low ? value : Value::anything();
      // The kernel's stack pointer comes from the driver's constants.
      const bool driver = (s.inst.op == Op::LDC || s.inst.op == Op::MOV || s.inst.op == Op::IMAD) &&
                          std::ranges::any_of(s.inst.operands(), [](const Operand& o) {
                            return o.kind == OperandKind::kConst && o.bank == 0;
                          });
      if (at == kStackPointer && driver) v = Value::of(kStackPointer);
      if (!always_runs(s.inst)) v.join(before.get(at));
      set(at, v);
    }
  }
}

Value Places::translated(const Value& v) const {
  if (v.is_anything()) return v;
  const Value stack = get(kStackPointer);
  const Atom* frame = stack.only();
  Value out;
  for (const Atom& a : v) {
    if (a.base < 0) {
      out.add(a);
    } else if (!is_slot(a.base)) {
      out.join(plus(get(a.base), Value::of(Atom::kNumber, a.add)));
    } else if (frame != nullptr && frame->base == kStackPointer) {
      const Location at = slot(slot_offset(a.base) + static_cast<std::int32_t>(frame->add));
      out.join(plus(get(at), Value::of(Atom::kNumber, a.add)));
    } else {
      out = Value::anything();
    }
  }
  return out;
}

void Places::call(const Places& callee) {
  const Places before = *this;
  const Value stack = get(kStackPointer);
  const Atom* frame = stack.only();
  for (const Entry& e : callee.listed_) {
    Location at = e.at;
    if (is_slot(at)) {
      // Its own frame, below ours, is gone.
      if (slot_offset(at) < 0 || frame == nullptr || frame->base != kStackPointer) continue;
      at = slot(slot_offset(at) + static_cast<std::int32_t>(frame->add));
    }
    set(at, before.translated(e.value));
  }
}

}  // namespace nervanagpu::sass::verify_detail

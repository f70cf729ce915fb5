#include "src/fuse/kernels/values.h"

#include <algorithm>
#include <bit>

#include "src/expr/promote.h"

namespace nervanagpu::fuse {

using sass::at;

std::uint64_t number_bits(const Number& n) {
  if (n.dtype == Dtype::float16 || n.dtype == Dtype::bfloat16) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(expr::value_of(n.bits, n.dtype)));
  }
  if (!expr::is_signed(n.dtype) || size_of(n.dtype) == 8) return n.bits;
  const auto width = static_cast<unsigned>(8 * size_of(n.dtype));
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(n.bits << (64 - width)) >> (64 - width));
}

std::vector<Operand> declare_operands(Builder& b, const Program& p, const std::vector<Access>& access) {
  std::vector<Operand> out;
  for (std::size_t k = 0; k < access.size(); ++k) {
    const bool in = k < p.tensors.size();
    const std::size_t number = in ? k : k - p.tensors.size();
    Operand o;
    o.dtype = in ? p.tensors[k].dtype() : p.outputs[number].to.dtype();
    o.access = access[k];
    o.pointer = b.param((in ? "in" : "out") + std::to_string(number), sass::ParamType::ptr);
    out.push_back(o);
  }
  return out;
}

std::vector<Arg> declare_strides(Builder& b, std::size_t k, std::size_t rank) {
  std::vector<Arg> out;
  for (std::size_t d = 0; d < rank; ++d) {
    out.push_back(b.param("stride" + std::to_string(k) + "_" + std::to_string(d), sass::ParamType::u32));
  }
  return out;
}

VReg offset_of(Builder& b, const std::vector<VReg>& coordinates, const std::vector<Arg>& strides) {
  VReg offset = sass::kZero;
  for (std::size_t d = 0; d < coordinates.size(); ++d) {
    const VReg sum = b.reg();
    b.emit(Op::IMAD, {}, {sum, coordinates[d], strides[d], offset});
    offset = sum;
  }
  return offset;
}

VReg ItemSizes::of(unsigned bytes) {
  for (const auto& [n, r] : registers_) {
    if (n == bytes) return r;
  }
  const VReg r = b_.reg();
  b_.emit(Op::MOV, {}, {r, std::int64_t{bytes}});
  registers_.emplace_back(bytes, r);
  return r;
}

std::vector<Division> declare_divisions(Builder& b, std::size_t count) {
  std::vector<Division> out;
  for (std::size_t d = 0; d < count; ++d) {
    const std::string n = std::to_string(d);
    out.push_back({b.param("minus_length" + n, sass::ParamType::u32), b.param("mul" + n, sass::ParamType::u32),
                   b.param("shift" + n, sass::ParamType::u32)});
  }
  return out;
}

std::vector<VReg> coordinates(Builder& b, const std::vector<Division>& divisions, VReg number) {
  std::vector<VReg> out;
  for (const Division& d : divisions) {
    const VReg twice = b.reg(), q = b.reg(), r = b.reg();
    b.emit(Op::IADD3, {}, {twice, number, number, sass::kZero});
    b.emit(Op::IMAD_HI, {Tok::U32}, {twice, twice, d.mul, sass::kZero});
    b.emit(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {q, sass::kZero, d.shift, twice});
    b.emit(Op::IMAD, {}, {r, q, d.minus_length, number});
    out.push_back(r);
    number = q;
  }
  out.push_back(number);
  return out;
}

Lanes load(Builder& b, Dtype d, unsigned lanes, VReg p, std::int64_t offset, VPred guard) {
  const auto clear = [&](VReg group) {
    for (unsigned k = 0; k < group.count && guard.id != sass::kNoVirtual; ++k)
      b.emit(Op::MOV, {}, {group[k], sass::kZero});
  };
  const auto bytes = static_cast<unsigned>(lanes * size_of(d));
  Lanes raw;
  if (bytes < 4) {
    raw[0] = b.reg();
    clear(raw[0]);
    const bool narrow_sign = expr::is_signed(d) && lanes == 1;
    const Tok size = bytes == 1 ? (narrow_sign ? Tok::S8 : Tok::U8) : (narrow_sign ? Tok::S16 : Tok::U16);
    b.emit(Op::LDG, {Tok::E, size}, {raw[0], at(p, offset)}, guard);
    return raw;
  }
  const unsigned words = bytes / 4;
  const unsigned step = size_of(d) == 8 ? 2 : 1;  // words of a lane
  for (unsigned w = 0; w < words; w += 4) {
    const unsigned count = std::min(4U, words - w);
    const VReg group = b.reg(count);
    clear(group);
    if (count == 4) {
      b.emit(Op::LDG, {Tok::E, Tok::k128}, {group, at(p, offset + 4 * w)}, guard);
    } else if (count == 2) {
      b.emit(Op::LDG, {Tok::E, Tok::k64}, {group, at(p, offset + 4 * w)}, guard);
    } else {
      b.emit(Op::LDG, {Tok::E}, {group, at(p, offset + 4 * w)}, guard);
    }
    for (unsigned k = 0; k < count; k += step) raw[(w + k) / step] = step == 2 ? group.pair(k) : group[k];
  }
  return raw;
}

Lanes count_up(Builder& b, unsigned lanes, VReg p, std::int64_t offset) {
  Lanes out;
  for (unsigned j = 0; j < lanes; ++j) {
    out[j] = b.reg();
    b.emit(Op::IADD3, {}, {out[j], p[0], offset + j, sass::kZero});
  }
  return out;
}

VReg address_at(Builder& b, Dtype d, Arg base, VReg offset) {
  const VReg address = b.reg(2), size = b.reg();
  b.emit(Op::MOV, {}, {size, static_cast<std::int64_t>(size_of(d))});
  b.emit(Op::IMAD_WIDE, {Tok::U32}, {address, offset[0], size, base});
  b.emit(Op::IMAD, {}, {address[1], offset[1], size, address[1]});
  return address;
}

void store(Builder& b, Dtype d, unsigned lanes, VReg p, std::int64_t offset, const Lanes& x, VPred guard) {
  const auto bytes = static_cast<unsigned>(lanes * size_of(d));
  const Lanes raw = Emit(b, lanes).pack(d, x);
  if (bytes < 4) {
    b.emit(Op::STG, {Tok::E, bytes == 1 ? Tok::U8 : Tok::U16}, {at(p, offset), raw[0]}, guard);
    return;
  }
  const unsigned words = bytes / 4;
  const unsigned step = size_of(d) == 8 ? 2 : 1;
  for (unsigned w = 0; w < words; w += 4) {
    const unsigned count = std::min(4U, words - w);
    if (count == 1) {
      b.emit(Op::STG, {Tok::E}, {at(p, offset + 4 * w), raw[w]}, guard);
      continue;
    }
    const VReg group = b.reg(count);
    for (unsigned k = 0; k < count; ++k) {
      const VReg from = step == 2 ? raw[(w + k) / 2][(w + k) % 2] : raw[w + k];
      b.emit(Op::MOV, {}, {group[k], from});
    }
    b.emit(Op::STG, {Tok::E, count == 4 ? Tok::k128 : Tok::k64}, {at(p, offset + 4 * w), group}, guard);
  }
}

void store_strong(Builder& b, Dtype d, VReg p, const Lanes& x, VPred guard) {
  // Before sm_70 stores have no order: all are alike.
  if (sass::info(b.arch()).encoding == sass::Encoding::k64) return store(b, d, 1, p, 0, x, guard);
  const Lanes raw = Emit(b, 1).pack(d, x);
  switch (size_of(d)) {
    case 1: b.emit(Op::STG, {Tok::E, Tok::U8, Tok::STRONG_GPU}, {at(p, 0), raw[0]}, guard); break;
    case 2: b.emit(Op::STG, {Tok::E, Tok::U16, Tok::STRONG_GPU}, {at(p, 0), raw[0]}, guard); break;
    case 4: b.emit(Op::STG, {Tok::E, Tok::STRONG_GPU}, {at(p, 0), raw[0]}, guard); break;
    default: {
      const VReg pair = b.reg(2);
      for (unsigned k = 0; k < 2; ++k) b.emit(Op::MOV, {}, {pair[k], raw[0][k]});
      b.emit(Op::STG, {Tok::E, Tok::k64, Tok::STRONG_GPU}, {at(p, 0), pair}, guard);
    }
  }
}

Evaluator::Evaluator(Builder& b, const Program& p, std::vector<Operand> operands)
    : b_(b),
      p_(p),
      operands_(std::move(operands)),
      uniform_(p.values.size()),
      uniform_value_(p.values.size()),
      divisors_(p.values.size()),
      divisor_lanes_(p.values.size(), 1) {
  for (std::size_t i = 0; i < p.values.size(); ++i) {
    const Value& v = p.values[i];
    if (v.op == ExprOp::tensor) {
      uniform_[i] = operands_[static_cast<std::size_t>(v.leaf)].access == Access::uniform;
    } else {
      uniform_[i] =
          v.op != ExprOp::reduce && v.op != ExprOp::random && v.op != ExprOp::index && v.op != ExprOp::gather &&
          std::ranges::all_of(v.in, [&](std::int16_t in) { return in < 0 || uniform_[static_cast<std::size_t>(in)]; });
    }
  }
}

void Evaluator::declare_numbers() {
  for (std::size_t i = 0; i < p_.numbers.size(); ++i) {
    const bool wide = registers_of(p_.numbers[i].dtype) == 2;
    numbers_.push_back(b_.param("number" + std::to_string(i), wide ? sass::ParamType::u64 : sass::ParamType::u32));
  }
}

void Evaluator::compute_uniform() {
  Emit e(b_, 1);
  std::vector<Lanes> one(p_.values.size());
  for (std::size_t i = 0; i < p_.values.size(); ++i) {
    if (!uniform_[i]) continue;
    const Value& v = p_.values[i];
    if (v.op == ExprOp::scalar) {
      const Arg from = numbers_[static_cast<std::size_t>(v.leaf)];
      const unsigned words = registers_of(v.dtype);
      one[i][0] = b_.reg(words);
      for (unsigned k = 0; k < words; ++k) b_.emit(Op::MOV, {}, {one[i][0][k], from.plus(4 * k)});
    } else if (v.op == ExprOp::tensor) {
      const Operand& o = operands_[static_cast<std::size_t>(v.leaf)];
      const VReg p = b_.reg(2);
      for (unsigned k = 0; k < 2; ++k) b_.emit(Op::MOV, {}, {p[k], o.pointer.plus(4 * k)});
      one[i] = e.unpack(o.dtype, load(b_, o.dtype, 1, p, 0));
    } else {
      const Lanes* in[3] = {};
      for (std::size_t k = 0; k < 3; ++k) in[k] = v.in[k] < 0 ? nullptr : &one[static_cast<std::size_t>(v.in[k])];
      one[i] = e.apply(v.op, v.dtype, v.from, in);
    }
    uniform_value_[i] = one[i][0];
    found(i, one[i][0]);
  }
}

void Evaluator::found(std::size_t value, VReg v) {
  Lanes one;
  one[0] = v;
  found(value, one, 1);
}

void Evaluator::found(std::size_t value, const Lanes& v, unsigned lanes) {
  if (form_of(p_.values[value].dtype) != Form::float32) return;
  const bool divides = std::ranges::any_of(p_.values, [&](const Value& other) {
    return other.op == ExprOp::divide && other.in[1] == static_cast<std::int16_t>(value) && !other.reduced &&
           !uniform_[static_cast<std::size_t>(&other - p_.values.data())];
  });
  if (!divides) return;
  divisors_[value] = Emit(b_, lanes).divisor(v);
  divisor_lanes_[value] = lanes;
}

std::vector<unsigned> reductions_behind(const Program& p) {
  std::vector<unsigned> out(p.values.size(), 0);
  for (std::size_t i = 0; i < p.values.size(); ++i) {
    for (const std::int16_t in : p.values[i].in) {
      if (in >= 0) out[i] = std::max(out[i], out[static_cast<std::size_t>(in)]);
    }
    if (p.values[i].op == ExprOp::reduce) ++out[i];
  }
  return out;
}

Lanes Evaluator::uniform_lanes(std::int16_t value, unsigned lanes) const {
  Lanes out;
  for (unsigned k = 0; k < lanes; ++k) out[k] = uniform_value_[static_cast<std::size_t>(value)];
  return out;
}

void Evaluator::compute_one(std::size_t i, unsigned lanes, const std::vector<Lanes>& loaded, Table& values) const {
  const Value& v = p_.values[i];
  if (uniform_[i]) {
    values[i] = uniform_lanes(static_cast<std::int16_t>(i), lanes);
  } else if (v.op == ExprOp::tensor || v.op == ExprOp::random || v.op == ExprOp::index) {
    values[i] = loaded[static_cast<std::size_t>(v.leaf)];
  } else {
    const auto operand = [&](std::size_t k) -> const Lanes& { return values[static_cast<std::size_t>(v.in[k])]; };
    const Lanes* in[3] = {};
    for (std::size_t k = 0; k < 3; ++k) in[k] = v.in[k] < 0 ? nullptr : &operand(k);
    Emit e(b_, lanes);
    if (v.op == ExprOp::gather) {
      const Operand& o = operands_[static_cast<std::size_t>(v.leaf)];
      for (unsigned k = 0; k < lanes; ++k) {
        const Lanes raw = load(b_, o.dtype, 1, address_at(b_, o.dtype, o.pointer, operand(0)[k]), 0);
        values[i][k] = Emit(b_, 1).unpack(o.dtype, raw)[0];
      }
      return;
    }
    if (v.op == ExprOp::stochastic_round) {
      values[i] = expr::kind_of(v.dtype) == expr::Kind::real
                      ? e.stochastic_float(v.dtype, v.extra, operand(0), operand(1))
                      : e.stochastic_integer(v.dtype, operand(0), operand(1));
      return;
    }
    std::optional<Divisor> shared;
    if (v.op == ExprOp::divide) shared = divisors_[static_cast<std::size_t>(v.in[1])];
    if (!shared || v.reduced) {
      values[i] = e.apply(v.op, v.dtype, v.from, in);
      return;
    }
    Divisor d = *shared;
    for (unsigned k = 1; k < lanes && divisor_lanes_[static_cast<std::size_t>(v.in[1])] == 1; ++k) {
      d.y[k] = shared->y[0];
      d.size[k] = shared->size[0];
      d.inverse[k] = shared->inverse[0];
      d.rough[k] = shared->rough[0];
    }
    values[i] = e.divide(values[static_cast<std::size_t>(v.in[0])], d);
  }
}

void Evaluator::compute(unsigned lanes, const std::vector<Lanes>& loaded, Table& values,
                        const std::vector<bool>* only) const {
  for (std::size_t i = 0; i < p_.values.size(); ++i) {
    if (only == nullptr || (*only)[i]) compute_one(i, lanes, loaded, values);
  }
}

}  // namespace nervanagpu::fuse

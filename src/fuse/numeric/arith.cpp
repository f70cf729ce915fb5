// Arithmetic, comparisons and logic.
#include "nervanagpu/error.hpp"
#include "src/expr/promote.h"
#include "src/fuse/numeric/division.h"
#include "src/fuse/numeric/emit.h"
#include "src/fuse/numeric/wide.h"

namespace nervanagpu::fuse {

using sass::complement;
using sass::kAlways;
using sass::kZero;
using sass::magnitude;

namespace {

constexpr std::uint32_t kSign = 0x80000000;
constexpr std::uint32_t kInfinity = 0x7f800000;

[[noreturn]] void missing(ExprOp op, const char* form) {
  throw Error("fuse: no code for " + std::string(name_of(op)) + " of " + form);
}

}  // namespace

Form form_of(Dtype d) {
  switch (d) {
    case Dtype::float16:
    case Dtype::bfloat16:
    case Dtype::float32: return Form::float32;
    case Dtype::float64: return Form::float64;
    case Dtype::int64:
    case Dtype::uint64: return Form::int64;
    default: return Form::int32;
  }
}
unsigned registers_of(Dtype d) {
  const Form f = form_of(d);
  return f == Form::float64 || f == Form::int64 ? 2 : 1;
}

Tok compare_token(ExprOp op, bool real) {
  switch (op) {
    case ExprOp::equal: return Tok::EQ;
    case ExprOp::not_equal: return real ? Tok::NEU : Tok::NE;
    case ExprOp::less: return Tok::LT;
    case ExprOp::less_equal: return Tok::LE;
    case ExprOp::greater: return Tok::GT;
    default: return Tok::GE;
  }
}

Lanes Emit::fresh(unsigned count) {
  Lanes out;
  each([&](unsigned i) { out[i] = b.reg(count); });
  return out;
}
VReg Emit::constant(std::uint32_t bits) {
  const VReg r = b.reg();
  b.emit(Op::MOV, {}, {r, bits});
  return r;
}
VReg Emit::constant64(std::uint64_t bits) {
  const VReg r = b.reg(2);
  b.emit(Op::MOV, {}, {r[0], static_cast<std::uint32_t>(bits)});
  b.emit(Op::MOV, {}, {r[1], static_cast<std::uint32_t>(bits >> 32)});
  return r;
}
void Emit::select(VReg d, Arg x, Arg y, VPred p) {
  // The second source alone may be no register.
  if (x.kind == Arg::Kind::kReg) {
    b.emit(Op::SEL, {}, {d, x, y, p});
  } else {
    b.emit(Op::SEL, {}, {d, y, x, !p});
  }
}
VReg Emit::truth(VPred p) {
  const VReg d = b.reg();
  b.emit(Op::SEL, {}, {d, kZero, 1, !p});
  return d;
}
Lanes Emit::select(const Lanes& x, const Lanes& y, const std::array<VPred, kMostLanes>& p, unsigned count) {
  Lanes d = fresh(count);
  each([&](unsigned i) {
    for (unsigned k = 0; k < count; ++k) select(d[i][k], x[i][k], y[i][k], p[i]);
  });
  return d;
}
VReg Emit::dfma(Arg x, Arg y, Arg z) {
  const VReg d = b.reg(2);
  b.emit(Op::DFMA, {}, {d, x, y, z});
  return d;
}

Lanes Emit::apply(ExprOp o, Dtype d, Dtype from, const Lanes* const* in) {
  if (o == ExprOp::cast) return cast(from, d, *in[0]);
  if (o == ExprOp::where) {
    std::array<VPred, kMostLanes> p;
    Lanes out = fresh(registers_of(d));
    each([&](unsigned i) {
      p[i] = b.pred();
      op(Op::ISETP, {Tok::NE, Tok::U32, Tok::AND}, {p[i], kAlways, (*in[0])[i], kZero, kAlways});
      for (unsigned k = 0; k < registers_of(d); ++k) select(out[i][k], (*in[1])[i][k], (*in[2])[i][k], p[i]);
    });
    return out;
  }
  switch (expr::rule_of(o)) {
    case expr::Rule::compare: return compare(o, from, in);
    case expr::Rule::test: return test(o, from, *in[0]);
    default: break;
  }
  switch (form_of(d)) {
    case Form::float32: return float32(o, in);
    case Form::float64: return float64(o, in);
    case Form::int32: return int32(o, d, in);
    case Form::int64: return int64(o, d, in);
  }
  return {};
}

Lanes Emit::float32(ExprOp o, const Lanes* const* in) {
  const Lanes& x = *in[0];
  const Lanes& y = expr::operands_of(o) > 1 ? *in[1] : x;
  Lanes d;
  const auto each_into = [&](const auto& f) {
    d = fresh();
    each(f);
    return d;
  };
  const auto round = [&](std::initializer_list<Tok> how) {
    return each_into([&](unsigned i) { op(Op::FRND, how, {d[i], x[i]}); });
  };
  switch (o) {
    case ExprOp::add: return each_into([&](unsigned i) { op(Op::FADD, {}, {d[i], x[i], y[i]}); });
    case ExprOp::subtract: return each_into([&](unsigned i) { op(Op::FADD, {}, {d[i], x[i], -Arg(y[i])}); });
    case ExprOp::multiply: return each_into([&](unsigned i) { op(Op::FMUL, {}, {d[i], x[i], y[i]}); });
    case ExprOp::fma: return each_into([&](unsigned i) { op(Op::FFMA, {}, {d[i], x[i], (*in[1])[i], (*in[2])[i]}); });
    case ExprOp::square: return each_into([&](unsigned i) { op(Op::FMUL, {}, {d[i], x[i], x[i]}); });
    case ExprOp::maximum:
      return each_into([&](unsigned i) { op(Op::FMNMX, {Tok::kNAN}, {d[i], x[i], y[i], !kAlways}); });
    case ExprOp::minimum:
      return each_into([&](unsigned i) { op(Op::FMNMX, {Tok::kNAN}, {d[i], x[i], y[i], kAlways}); });
    case ExprOp::negative:
      return each_into([&](unsigned i) { op(Op::LOP3, {Tok::LUT}, {d[i], x[i], kSign, kZero, kXor, !kAlways}); });
    case ExprOp::absolute:
      return each_into([&](unsigned i) { op(Op::LOP3, {Tok::LUT}, {d[i], x[i], 0x7fffffff, kZero, kAnd, !kAlways}); });
    case ExprOp::sgn:
      return each_into([&](unsigned i) {
        const VPred p = b.pred(), q = b.pred(), z = b.pred();
        op(Op::FSETP, {Tok::GT, Tok::AND}, {p, kAlways, x[i], kZero, kAlways});
        op(Op::FSETP, {Tok::LT, Tok::AND}, {q, kAlways, x[i], kZero, kAlways});
        op(Op::FSETP, {Tok::EQ, Tok::AND}, {z, kAlways, x[i], kZero, kAlways});
        select(d[i], 0x3f800000, x[i], p);
        select(d[i], 0xbf800000, d[i], q);
        select(d[i], kZero, d[i], z);
      });
    case ExprOp::floor: return round({Tok::FLOOR});
    case ExprOp::ceil: return round({Tok::CEIL});
    case ExprOp::trunc: return round({Tok::TRUNC});
    case ExprOp::rint: return round({});
    case ExprOp::divide: return divide(x, y);
    case ExprOp::reciprocal: {
      Lanes one;
      const VReg k = constant(0x3f800000);
      each([&](unsigned i) { one[i] = k; });
      return divide(one, x);
    }
    case ExprOp::sqrt: return sqrt(x);
    case ExprOp::exp: return exp(x);
    case ExprOp::exp2: return exp2(x);
    case ExprOp::log: return log(x, false);
    case ExprOp::log2: return log(x, true);
    case ExprOp::sig: return sigmoid(x, false);
    case ExprOp::sig2: return sigmoid(x, true);
    case ExprOp::silu: {  // as kernels/lib/activation.sass has it
      const Lanes a = each_into([&](unsigned i) { op(Op::FMNMX, {Tok::kNAN}, {d[i], x[i], 0xc3480000, !kAlways}); });
      const Lanes s = sigmoid(a, false);
      return each_into([&](unsigned i) { op(Op::FMUL, {}, {d[i], s[i], a[i]}); });
    }
    case ExprOp::tanh: return tanh(x);
    case ExprOp::tanh2: {
      const Lanes scaled = each_into([&](unsigned i) { op(Op::FMUL, {}, {d[i], x[i], 0x3f317218}); });
      return tanh(scaled);
    }
    case ExprOp::power: return power(x, y);
    case ExprOp::unit:
      return each_into([&](unsigned i) {
        op(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {d[i], kZero, 8, x[i]});
        op(Op::I2FP, {Tok::F32, Tok::U32}, {d[i], d[i]});
        op(Op::FMUL, {}, {d[i], d[i], 0x1p-24F});
      });
    case ExprOp::copysign: return with_sign(*this, x, y);
    case ExprOp::floor_divide:
    case ExprOp::remainder:
    case ExprOp::fmod: return divide_whole(*this, o, x, y);
    default:
      if (const auto f = function_of(*this, o, Dtype::float32, in)) return *f;
      missing(o, "float32");
  }
}

Lanes Emit::float64(ExprOp o, const Lanes* const* in) {
  const Lanes& x = *in[0];
  const Lanes& y = expr::operands_of(o) > 1 ? *in[1] : x;
  Lanes d = fresh(2);
  const auto high_bits = [&](std::uint32_t mask, int table) {
    each([&](unsigned i) {
      op(Op::MOV, {}, {d[i][0], x[i][0]});
      op(Op::LOP3, {Tok::LUT}, {d[i][1], x[i][1], mask, kZero, table, !kAlways});
    });
    return d;
  };
  const auto round = [&](std::initializer_list<Tok> how) {
    each([&](unsigned i) { op(Op::FRND, how, {d[i], x[i]}); });
    return d;
  };
  const auto extreme = [&](Tok way) {
    each([&](unsigned i) {
      const VPred p = b.pred(), nan = b.pred();
      op(Op::DSETP, {way, Tok::AND}, {p, kAlways, x[i], y[i], kAlways});
      op(Op::DSETP, {Tok::kNAN, Tok::AND}, {nan, kAlways, x[i], x[i], kAlways});
      for (unsigned k = 0; k < 2; ++k) {
        select(d[i][k], x[i][k], y[i][k], p);
        select(d[i][k], x[i][k], d[i][k], nan);
      }
    });
    return d;
  };
  switch (o) {
    case ExprOp::add: each([&](unsigned i) { op(Op::DADD, {}, {d[i], x[i], y[i]}); }); return d;
    case ExprOp::subtract: each([&](unsigned i) { op(Op::DADD, {}, {d[i], x[i], -Arg(y[i])}); }); return d;
    case ExprOp::multiply: each([&](unsigned i) { op(Op::DMUL, {}, {d[i], x[i], y[i]}); }); return d;
    case ExprOp::square: each([&](unsigned i) { op(Op::DMUL, {}, {d[i], x[i], x[i]}); }); return d;
    case ExprOp::maximum: return extreme(Tok::GT);
    case ExprOp::minimum: return extreme(Tok::LT);
    case ExprOp::negative: return high_bits(kSign, kXor);
    case ExprOp::absolute: return high_bits(0x7fffffff, kAnd);
    case ExprOp::sgn:
      each([&](unsigned i) {
        const VPred p = b.pred(), q = b.pred(), nan = b.pred();
        const VReg zero = constant64(0);
        op(Op::DSETP, {Tok::GT, Tok::AND}, {p, kAlways, x[i], zero, kAlways});
        op(Op::DSETP, {Tok::LT, Tok::AND}, {q, kAlways, x[i], zero, kAlways});
        op(Op::DSETP, {Tok::kNAN, Tok::AND}, {nan, kAlways, x[i], x[i], kAlways});
        select(d[i][0], x[i][0], kZero, nan);
        select(d[i][1], x[i][1], kZero, nan);
        select(d[i][1], 0x3ff00000, d[i][1], p);
        select(d[i][1], 0xbff00000, d[i][1], q);
      });
      return d;
    case ExprOp::floor: return round({Tok::F64, Tok::FLOOR});
    case ExprOp::ceil: return round({Tok::F64, Tok::CEIL});
    case ExprOp::trunc: return round({Tok::F64, Tok::TRUNC});
    case ExprOp::rint: return round({Tok::F64});
    case ExprOp::divide: return divide64(x, y);
    case ExprOp::reciprocal: {
      Lanes one;
      const VReg k = constant64(0x3ff0000000000000);
      each([&](unsigned i) { one[i] = k; });
      return divide64(one, x);
    }
    case ExprOp::sqrt: return sqrt64(x);
    case ExprOp::copysign: return with_sign_of(Wide(*this, x), Wide(*this, y)).lanes();
    case ExprOp::floor_divide:
    case ExprOp::remainder:
    case ExprOp::fmod: return divide_whole64(*this, o, x, y);
    default:
      if (const auto f = function_of(*this, o, Dtype::float64, in)) return *f;
      missing(o, "float64");
  }
}

Lanes Emit::narrow(Dtype d, const Lanes& x) {
  if (size_of(d) >= 4 || d == Dtype::boolean) return x;
  const auto bits = static_cast<int>(8 * size_of(d));
  Lanes out = fresh();
  each([&](unsigned i) {
    if (expr::is_signed(d)) {
      op(Op::SGXT, {}, {out[i], x[i], bits});
    } else {
      op(Op::LOP3, {Tok::LUT}, {out[i], x[i], (1 << bits) - 1, kZero, kAnd, !kAlways});
    }
  });
  return out;
}

Lanes Emit::int32(ExprOp o, Dtype dtype, const Lanes* const* in) {
  const bool boolean = dtype == Dtype::boolean;
  const bool is_signed = expr::is_signed(dtype);
  const Lanes& x = *in[0];
  const Lanes& y = expr::operands_of(o) > 1 ? *in[1] : x;
  Lanes d = fresh();
  const auto logic = [&](int table) {
    each([&](unsigned i) { op(Op::LOP3, {Tok::LUT}, {d[i], x[i], y[i], kZero, table, !kAlways}); });
    return d;
  };
  const auto flip = [&](std::int64_t mask) {
    each([&](unsigned i) { op(Op::LOP3, {Tok::LUT}, {d[i], x[i], mask, kZero, kXor, !kAlways}); });
    return d;
  };
  const auto extreme = [&](const Lanes& p, Arg q, VPred lower) {
    each([&](unsigned i) {
      if (is_signed) {
        op(Op::VIMNMX, {}, {d[i], p[i], q.kind == Arg::Kind::kReg ? Arg(y[i]) : q, lower});
      } else {
        op(Op::VIMNMX, {Tok::U32}, {d[i], p[i], q.kind == Arg::Kind::kReg ? Arg(y[i]) : q, lower});
      }
    });
    return d;
  };
  switch (o) {
    case ExprOp::add:
      if (boolean) return logic(kOr);
      each([&](unsigned i) { op(Op::IADD3, {}, {d[i], x[i], y[i], kZero}); });
      return narrow(dtype, d);
    case ExprOp::subtract:
      each([&](unsigned i) { op(Op::IADD3, {}, {d[i], x[i], -Arg(y[i]), kZero}); });
      return narrow(dtype, d);
    case ExprOp::multiply:
    case ExprOp::square:
      if (boolean) return logic(kAnd);
      each([&](unsigned i) { op(Op::IMAD, {}, {d[i], x[i], y[i], kZero}); });
      return narrow(dtype, d);
    case ExprOp::maximum: return boolean ? logic(kOr) : extreme(x, kZero, !kAlways);
    case ExprOp::minimum: return boolean ? logic(kAnd) : extreme(x, kZero, kAlways);
    case ExprOp::negative:
      each([&](unsigned i) { op(Op::IADD3, {}, {d[i], kZero, -Arg(x[i]), kZero}); });
      return narrow(dtype, d);
    case ExprOp::absolute:
      if (!is_signed) return x;
      each([&](unsigned i) { op(Op::IABS, {}, {d[i], x[i]}); });
      return narrow(dtype, d);
    case ExprOp::sgn:
      extreme(x, 1, kAlways);
      if (is_signed) each([&](unsigned i) { op(Op::VIMNMX, {}, {d[i], d[i], -1, !kAlways}); });
      return d;
    case ExprOp::logical_and:
    case ExprOp::bitwise_and: return logic(kAnd);
    case ExprOp::logical_or:
    case ExprOp::bitwise_or: return logic(kOr);
    case ExprOp::logical_xor:
    case ExprOp::bitwise_xor: return logic(kXor);
    case ExprOp::logical_not: return flip(1);
    case ExprOp::invert:
      if (boolean) return flip(1);
      return flip(is_signed || size_of(dtype) == 4 ? 0xffffffffLL : (1LL << 8 * size_of(dtype)) - 1);
    case ExprOp::floor_divide:
    case ExprOp::remainder:
    case ExprOp::fmod: return narrow(dtype, divide_words(*this, o, is_signed, x, y));
    case ExprOp::left_shift:
    case ExprOp::right_shift: return narrow(dtype, shift_words(*this, o, is_signed, x, y));
    default: missing(o, "integers");
  }
}

VPred Emit::less64(const VReg& x, const VReg& y, bool is_signed) {
  const VPred low = b.pred(), p = b.pred();
  op(Op::ISETP, {Tok::LT, Tok::U32, Tok::AND}, {low, kAlways, x[0], y[0], kAlways});
  if (is_signed) {
    op(Op::ISETP, {Tok::LT, Tok::AND, Tok::EX}, {p, kAlways, x[1], y[1], kAlways, low});
  } else {
    op(Op::ISETP, {Tok::LT, Tok::U32, Tok::AND, Tok::EX}, {p, kAlways, x[1], y[1], kAlways, low});
  }
  return p;
}

Lanes Emit::int64(ExprOp o, Dtype dtype, const Lanes* const* in) {
  const bool is_signed = expr::is_signed(dtype);
  const Lanes& x = *in[0];
  const Lanes& y = expr::operands_of(o) > 1 ? *in[1] : x;
  Lanes d = fresh(2);
  const auto difference = [&](VReg to, VReg p, VReg q) {
    const VPred carry = b.pred();
    op(Op::IADD3, {}, {to[0], carry, p[0], -Arg(q[0]), kZero});
    op(Op::IADD3, {Tok::X}, {to[1], p[1], complement(q[1]), kZero, carry, !kAlways});
  };
  const auto logic = [&](int table, bool flip) {
    each([&](unsigned i) {
      for (unsigned k = 0; k < 2; ++k)
        op(Op::LOP3, {Tok::LUT}, {d[i][k], x[i][k], flip ? Arg(0xffffffffU) : Arg(y[i][k]), kZero, table, !kAlways});
    });
    return d;
  };
  switch (o) {
    case ExprOp::add:
      each([&](unsigned i) {
        const VPred carry = b.pred();
        op(Op::IADD3, {}, {d[i][0], carry, x[i][0], y[i][0], kZero});
        op(Op::IADD3, {Tok::X}, {d[i][1], x[i][1], y[i][1], kZero, carry, !kAlways});
      });
      return d;
    case ExprOp::subtract: each([&](unsigned i) { difference(d[i], x[i], y[i]); }); return d;
    case ExprOp::multiply:
    case ExprOp::square:
      each([&](unsigned i) {
        const VReg w = b.reg(2);
        op(Op::IMAD_WIDE, {Tok::U32}, {w, x[i][0], y[i][0], kZero});
        op(Op::IMAD, {}, {w[1], x[i][0], y[i][1], w[1]});
        op(Op::IMAD, {}, {w[1], x[i][1], y[i][0], w[1]});
        d[i] = w;
      });
      return d;
    case ExprOp::maximum:
    case ExprOp::minimum:
      each([&](unsigned i) {
        const VPred less = less64(x[i], y[i], is_signed);
        for (unsigned k = 0; k < 2; ++k) select(d[i][k], x[i][k], y[i][k], o == ExprOp::minimum ? less : !less);
      });
      return d;
    case ExprOp::negative: {
      const VReg none = constant64(0);
      each([&](unsigned i) { difference(d[i], none, x[i]); });
      return d;
    }
    case ExprOp::absolute: {
      if (!is_signed) return x;
      const VReg none = constant64(0);
      each([&](unsigned i) {
        const VPred below = b.pred();
        difference(d[i], none, x[i]);
        op(Op::ISETP, {Tok::LT, Tok::AND}, {below, kAlways, x[i][1], kZero, kAlways});
        for (unsigned k = 0; k < 2; ++k) select(d[i][k], d[i][k], x[i][k], below);
      });
      return d;
    }
    case ExprOp::sgn: {
      const VReg none = constant64(0);
      each([&](unsigned i) {
        const VPred above = less64(none, x[i], is_signed);
        op(Op::SEL, {}, {d[i][0], kZero, 1, !above});
        op(Op::MOV, {}, {d[i][1], kZero});
        if (!is_signed) return;
        const VPred below = b.pred();
        op(Op::ISETP, {Tok::LT, Tok::AND}, {below, kAlways, x[i][1], kZero, kAlways});
        for (unsigned k = 0; k < 2; ++k) select(d[i][k], 0xffffffffU, d[i][k], below);
      });
      return d;
    }
    case ExprOp::bitwise_and: return logic(kAnd, false);
    case ExprOp::bitwise_or: return logic(kOr, false);
    case ExprOp::bitwise_xor: return logic(kXor, false);
    case ExprOp::invert: return logic(kXor, true);
    case ExprOp::floor_divide:
    case ExprOp::remainder:
    case ExprOp::fmod: return divide_pairs(*this, o, is_signed, x, y);
    case ExprOp::left_shift:
    case ExprOp::right_shift: return shift_pairs(*this, o, is_signed, x, y);
    default: missing(o, "64-bit integers");
  }
}

Lanes Emit::compare(ExprOp o, Dtype from, const Lanes* const* in) {
  const Lanes& x = *in[0];
  const Lanes& y = *in[1];
  const Form form = form_of(from);
  const Tok how = compare_token(o, form == Form::float32 || form == Form::float64);
  Lanes d;
  each([&](unsigned i) {
    const VPred p = b.pred();
    switch (form) {
      case Form::float32: op(Op::FSETP, {how, Tok::AND}, {p, kAlways, x[i], y[i], kAlways}); break;
      case Form::float64: op(Op::DSETP, {how, Tok::AND}, {p, kAlways, x[i], y[i], kAlways}); break;
      case Form::int32:
        if (expr::is_signed(from)) {
          op(Op::ISETP, {how, Tok::AND}, {p, kAlways, x[i], y[i], kAlways});
        } else {
          op(Op::ISETP, {how, Tok::U32, Tok::AND}, {p, kAlways, x[i], y[i], kAlways});
        }
        break;
      case Form::int64: {
        const VPred low = b.pred();
        op(Op::ISETP, {how, Tok::U32, Tok::AND}, {low, kAlways, x[i][0], y[i][0], kAlways});
        if (expr::is_signed(from)) {
          op(Op::ISETP, {how, Tok::AND, Tok::EX}, {p, kAlways, x[i][1], y[i][1], kAlways, low});
        } else {
          op(Op::ISETP, {how, Tok::U32, Tok::AND, Tok::EX}, {p, kAlways, x[i][1], y[i][1], kAlways, low});
        }
      }
    }
    d[i] = truth(p);
  });
  return d;
}

Lanes Emit::test(ExprOp o, Dtype from, const Lanes& x) {
  Lanes d;
  const Form form = form_of(from);
  if (o == ExprOp::signbit) {
    if ((form == Form::int32 || form == Form::int64) && !expr::is_signed(from)) {
      const VReg k = constant(0);
      each([&](unsigned i) { d[i] = k; });
      return d;
    }
    each([&](unsigned i) {
      const VPred p = b.pred();
      op(Op::ISETP, {Tok::LT, Tok::AND}, {p, kAlways, x[i][registers_of(from) - 1], kZero, kAlways});
      d[i] = truth(p);
    });
    return d;
  }
  if (form == Form::int32 || form == Form::int64) {
    const VReg k = constant(o == ExprOp::finite ? 1 : 0);
    each([&](unsigned i) { d[i] = k; });
    return d;
  }
  const Tok how = o == ExprOp::finite ? Tok::LT : o == ExprOp::isnan ? Tok::kNAN : Tok::EQ;
  const VReg infinity = form == Form::float64 ? constant64(0x7ff0000000000000) : constant(kInfinity);
  each([&](unsigned i) {
    const VPred p = b.pred();
    const Arg against = o == ExprOp::isnan ? Arg(x[i]) : Arg(infinity);
    op(form == Form::float64 ? Op::DSETP : Op::FSETP, {how, Tok::AND}, {p, kAlways, magnitude(x[i]), against, kAlways});
    d[i] = truth(p);
  });
  return d;
}

}  // namespace nervanagpu::fuse

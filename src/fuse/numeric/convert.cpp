// Casts, and lanes from and to memory words.
#include <algorithm>

#include "src/expr/promote.h"
#include "src/fuse/numeric/emit.h"

namespace nervanagpu::fuse {

using sass::half;
using sass::kAlways;
using sass::kZero;

Lanes Emit::cast(Dtype from, Dtype to, const Lanes& x) {
  if (from == to) return x;
  const Form f = form_of(from);
  const Form t = form_of(to);
  const bool from_signed = expr::is_signed(from);
  Lanes d = fresh(registers_of(to));
  if (to == Dtype::boolean) {
    each([&](unsigned i) {
      const VPred p = b.pred();
      switch (f) {
        case Form::float32: op(Op::FSETP, {Tok::NEU, Tok::AND}, {p, kAlways, x[i], kZero, kAlways}); break;
        case Form::float64: {
          const VReg zero = constant64(0);
          op(Op::DSETP, {Tok::NEU, Tok::AND}, {p, kAlways, x[i], zero, kAlways});
          break;
        }
        case Form::int64: {
          const VReg any = b.reg();
          op(Op::LOP3, {Tok::LUT}, {any, x[i][0], x[i][1], kZero, 0xfc, !kAlways});
          op(Op::ISETP, {Tok::NE, Tok::U32, Tok::AND}, {p, kAlways, any, kZero, kAlways});
          break;
        }
        case Form::int32: op(Op::ISETP, {Tok::NE, Tok::U32, Tok::AND}, {p, kAlways, x[i], kZero, kAlways}); break;
      }
      d[i] = truth(p);
    });
    return d;
  }
  // F2I with 64 bits on a side makes the smallest number of NaN, where .NTZ would make 0 of it: NaN is taken out by hand.
  const auto not_a_number = [&](Form form, VReg v) {
    const VPred nan = b.pred();
    op(form == Form::float64 ? Op::DSETP : Op::FSETP, {Tok::kNAN, Tok::AND}, {nan, kAlways, v, v, kAlways});
    return nan;
  };
  // float32 values rounded to a 16-bit float, as values again
  const auto through_half = [&](const Lanes& v) {
    if (to != Dtype::float16 && to != Dtype::bfloat16) return v;
    Lanes out = fresh();
    each([&](unsigned i) {
      if (to == Dtype::bfloat16) {
        op(Op::F2FP, {Tok::BF16, Tok::F32, Tok::PACK_AB}, {out[i], v[i], kZero});
        return;
      }
      const VReg h = b.reg();
      op(Op::F2FP, {Tok::F16, Tok::F32, Tok::PACK_AB}, {h, kZero, v[i]});
      op(Op::HADD2, {Tok::F32}, {out[i], -Arg(kZero), half(h, 0)});
    });
    return out;
  };
  switch (t) {
    case Form::float32:
      if (f == Form::float32) return through_half(x);
      if (f == Form::float64) {
        each([&](unsigned i) {
          if (to == Dtype::float16) {
            const VReg h = b.reg();
            op(Op::F2F, {Tok::F16, Tok::F64}, {h, x[i]});
            op(Op::HADD2, {Tok::F32}, {d[i], -Arg(kZero), half(h, 0)});
          } else {
            op(Op::F2F, {Tok::F32, Tok::F64}, {d[i], x[i]});
          }
        });
        return to == Dtype::bfloat16 ? through_half(d) : d;
      }
      each([&](unsigned i) {
        if (f == Form::int64) {
          op(Op::I2F, {from_signed ? Tok::S64 : Tok::U64}, {d[i], x[i]});
        } else {
          op(Op::I2FP, {Tok::F32, from_signed ? Tok::S32 : Tok::U32}, {d[i], x[i]});
        }
      });
      return through_half(d);
    case Form::float64:
      each([&](unsigned i) {
        if (f == Form::float32) {
          op(Op::F2F, {Tok::F64, Tok::F32}, {d[i], x[i]});
        } else if (f == Form::int64) {
          op(Op::I2F, {Tok::F64, from_signed ? Tok::S64 : Tok::U64}, {d[i], x[i]});
        } else if (from_signed) {
          op(Op::I2F, {Tok::F64}, {d[i], x[i]});
        } else {
          op(Op::I2F, {Tok::F64, Tok::U32}, {d[i], x[i]});
        }
      });
      return d;
    case Form::int64:
      each([&](unsigned i) {
        const Tok kind = expr::is_signed(to) ? Tok::S64 : Tok::U64;
        if (f == Form::float32) {
          const VReg number = b.reg();
          select(number, kZero, x[i], not_a_number(f, x[i]));
          op(Op::F2I, {kind, Tok::TRUNC}, {d[i], number});
        } else if (f == Form::float64) {
          const VReg whole = b.reg(2);
          const VPred nan = not_a_number(f, x[i]);
          op(Op::F2I, {kind, Tok::F64, Tok::TRUNC}, {whole, x[i]});
          for (unsigned k = 0; k < 2; ++k) select(d[i][k], kZero, whole[k], nan);
        } else if (f == Form::int64) {
          d[i] = x[i];
        } else {
          op(Op::MOV, {}, {d[i][0], x[i]});
          if (from_signed) {
            op(Op::SHF, {Tok::R, Tok::S32, Tok::HI}, {d[i][1], kZero, 31, x[i]});
          } else {
            op(Op::MOV, {}, {d[i][1], kZero});
          }
        }
      });
      return d;
    case Form::int32: break;
  }
  if (f == Form::int32 || f == Form::int64) {
    Lanes low = x;
    if (f == Form::int64) each([&](unsigned i) { low[i] = x[i][0]; });
    const bool keeps = f == Form::int32 && size_of(to) > size_of(from) && (!from_signed || expr::is_signed(to));
    return keeps ? low : narrow(to, low);
  }
  // Floats to integers of up to 32 bits: towards zero, saturating.
  const bool to_signed = expr::is_signed(to);
  each([&](unsigned i) {
    if (f == Form::float64) {
      const VReg whole = b.reg();
      if (to_signed) {
        op(Op::F2I, {Tok::F64, Tok::TRUNC}, {whole, x[i]});
      } else {
        op(Op::F2I, {Tok::U32, Tok::F64, Tok::TRUNC}, {whole, x[i]});
      }
      select(d[i], kZero, whole, not_a_number(f, x[i]));
    } else if (to_signed) {
      op(Op::F2I, {Tok::TRUNC, Tok::NTZ}, {d[i], x[i]});
    } else {
      op(Op::F2I, {Tok::U32, Tok::TRUNC, Tok::NTZ}, {d[i], x[i]});
    }
    if (size_of(to) == 4) return;
    const int bits = static_cast<int>(8 * size_of(to)) - (to_signed ? 1 : 0);
    if (to_signed) {
      op(Op::VIMNMX, {}, {d[i], d[i], (1 << bits) - 1, kAlways});
      op(Op::VIMNMX, {}, {d[i], d[i], -(1 << bits), !kAlways});
    } else {
      op(Op::VIMNMX, {Tok::U32}, {d[i], d[i], (1 << bits) - 1, kAlways});
    }
  });
  return d;
}

Lanes Emit::unpack(Dtype dtype, const Lanes& raw) {
  const std::size_t size = size_of(dtype);
  if (size >= 4) return raw;
  Lanes d = fresh();
  const auto per_word = static_cast<unsigned>(4 / size);
  each([&](unsigned i) {
    const VReg w = raw[i / per_word];
    const unsigned k = i % per_word;
    if (dtype == Dtype::float16) {
      op(Op::HADD2, {Tok::F32}, {d[i], -Arg(kZero), half(w, k)});
      return;
    }
    if (dtype == Dtype::bfloat16) {  // the upper half of a float32
      if (k == 0) {
        op(Op::SHF, {Tok::L, Tok::U32}, {d[i], w, 16, kZero});
      } else {
        op(Op::LOP3, {Tok::LUT}, {d[i], w, 0xffff0000U, kZero, 0xc0, !kAlways});
      }
      return;
    }
    if (n == 1) {  // loaded with its sign
      d[i] = w;
      return;
    }
    // Selectors of PRMT: 0..3 the bytes of the word, 8 + k the sign of byte k, 4 a zero.
    const unsigned last = size == 1 ? k : 2 * k + 1;
    const unsigned fill = expr::is_signed(dtype) ? 8 + last : 4;
    const unsigned low = size == 1 ? k | fill << 4 : 2 * k | (2 * k + 1) << 4;
    op(Op::PRMT, {}, {d[i], w, std::int64_t{low | fill << 8 | fill << 12}, kZero});
  });
  return d;
}

Lanes Emit::pack(Dtype dtype, const Lanes& x) {
  const std::size_t size = size_of(dtype);
  if (size >= 4) return x;
  Lanes d;
  const bool real = dtype == Dtype::float16 || dtype == Dtype::bfloat16;
  const Tok half_type = dtype == Dtype::bfloat16 ? Tok::BF16 : Tok::F16;
  if (n == 1) {
    if (!real) return x;
    d[0] = b.reg();
    op(Op::F2FP, {half_type, Tok::F32, Tok::PACK_AB}, {d[0], kZero, x[0]});
    return d;
  }
  const auto merge = [&](VReg low, VReg high, unsigned selector) {
    const VReg w = b.reg();
    op(Op::PRMT, {}, {w, low, std::int64_t{selector}, high});
    return w;
  };
  if (size == 2) {
    for (unsigned i = 0; i < n; i += 2) {
      if (real) {
        d[i / 2] = b.reg();
        op(Op::F2FP, {half_type, Tok::F32, Tok::PACK_AB}, {d[i / 2], x[i + 1], x[i]});
      } else {
        d[i / 2] = merge(x[i], x[i + 1], 0x5410);
      }
    }
    return d;
  }
  for (unsigned i = 0; i < n; i += 4) {
    const VReg low = merge(x[i], x[i + 1], 0x0040);
    d[i / 4] = n < 4 ? low : merge(low, merge(x[i + 2], x[i + 3], 0x0040), 0x5410);
  }
  return d;
}

}  // namespace nervanagpu::fuse

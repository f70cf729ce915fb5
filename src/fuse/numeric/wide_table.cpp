// Functions that are more than an instruction of the chip, by element type; nothing: not for that type.
#include "src/fuse/numeric/wide.h"

namespace nervanagpu::fuse {

std::optional<Lanes> function_of(Emit& e, ExprOp op, Dtype dtype, const Lanes* const* in) {
  const bool float64 = form_of(dtype) == Form::float64;
  const Lanes& x = *in[0];
  switch (op) {
    case ExprOp::sin:
    case ExprOp::cos:
    case ExprOp::tan: return float64 ? sine64(e, op, x) : sine(e, op, x);
    case ExprOp::arcsin:
    case ExprOp::arccos:
    case ExprOp::arctan: return float64 ? arc64(e, op, x) : arc(e, op, x);
    case ExprOp::arctan2: return float64 ? arc2_64(e, x, *in[1]) : arc2(e, x, *in[1]);
    case ExprOp::sinh:
    case ExprOp::cosh: return float64 ? exponential64(e, op, x) : hyperbolic(e, op, x);
    case ExprOp::arcsinh:
    case ExprOp::arccosh:
    case ExprOp::arctanh: return float64 ? logarithm64(e, op, x) : hyperbolic(e, op, x);
    case ExprOp::erf:
    case ExprOp::erfc:
    case ExprOp::gelu: return float64 ? error_function64(e, op, x) : error_function(e, op, x);
    case ExprOp::expm1: return float64 ? exponential64(e, op, x) : near_one(e, op, x);
    case ExprOp::log1p:
    case ExprOp::log10: return float64 ? logarithm64(e, op, x) : near_one(e, op, x);
    case ExprOp::cbrt: return float64 ? cube_root64(e, x) : cube_root(e, x);
    case ExprOp::hypot: return float64 ? hypotenuse64(e, x, *in[1]) : hypotenuse(e, x, *in[1]);
    case ExprOp::exp:
    case ExprOp::exp2:
    case ExprOp::sig:
    case ExprOp::sig2:
    case ExprOp::silu:
    case ExprOp::tanh:
    case ExprOp::tanh2: return float64 ? std::optional(exponential64(e, op, x)) : std::nullopt;
    case ExprOp::log:
    case ExprOp::log2: return float64 ? std::optional(logarithm64(e, op, x)) : std::nullopt;
    case ExprOp::power: return float64 ? std::optional(power64(e, x, *in[1])) : std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace nervanagpu::fuse

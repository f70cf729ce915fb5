#include "python/options.h"

#include "nervanagpu/error.hpp"
#include "python/casters.h"

namespace nervanagpu::python {
namespace {

template <typename T>
bool load_value(pybind11::handle value, bool convert, T& to) {
  pybind11::detail::make_caster<T> caster;
  if (!caster.load(value, convert)) return false;
  to = pybind11::detail::cast_op<T>(caster);
  return true;
}

bool is_stochastic(const std::string& mode) {
  if (mode != "nearest" && mode != "stochastic") {
    throw InvalidArgument("rounding is '" + mode + "'; needs 'nearest' or 'stochastic'");
  }
  return mode == "stochastic";
}

}  // namespace

bool load_keyword(std::string_view name, pybind11::handle value, bool convert, Rounding& to) {
  if (name == "seed") return load_value(value, convert, to.seed);
  if (name == "offset") return load_value(value, convert, to.offset);
  if (name == "bits") return load_value(value, convert, to.bits);
  std::string mode;
  if (name != "rounding" || !load_value(value, convert, mode)) return false;
  to.stochastic = is_stochastic(mode);
  return true;
}

bool load_keyword(std::string_view name, pybind11::handle value, bool convert, Epilogue& to) {
  if (name == "alpha") return load_value(value, convert, to.alpha);
  if (name == "beta") return load_value(value, convert, to.beta);
  return load_keyword(name, value, convert, to.rounding);
}

}  // namespace nervanagpu::python

// Operators of torch.ops.nervanagpu_native: those of torch.ops.nervanagpu with arguments that torch's stable interface has had
// from the beginning. Names are numbers: of precision -1 is the thread's, else an ng_precision; of activation an
// ng_gemm_activation. Strides and so on of up to three axes are one number, 21 bits each, as every argument costs time.
#pragma once

#include <array>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "python/torch_ops/array.h"
#include "python/torch_ops/shim.h"

namespace nervanagpu::python::torch {

struct Operator {
  const char* schema;
  Kernel kernel;
};

std::span<const Operator> products();
std::span<const Operator> groups();
std::span<const Operator> convolutions();
std::span<const Operator> pools();
std::span<const Operator> roundings();

// Any function of Array, std::optional<Array>, std::int64_t, double and bool, which gives an Array, two of them or nothing, as a Kernel.
template <auto function>
void boxed(Value* stack, std::uint64_t arguments, std::uint64_t results);

// --- how ---------------------------------------------------------------------------------------------------------------

template <class T>
T taken(Value value) noexcept {
  if constexpr (std::is_same_v<T, Array>) {
    return Array(reinterpret_cast<TensorObject*>(value));  // NOLINT(performance-no-int-to-ptr)
  } else if constexpr (std::is_same_v<T, std::optional<Array>>) {
    const auto* there = reinterpret_cast<Value*>(value);  // NOLINT(performance-no-int-to-ptr): ours to delete
    if (there == nullptr) return std::nullopt;
    Array out = taken<Array>(*there);
    delete there;
    return out;
  } else {
    T out;
    static_assert(sizeof out <= sizeof value);
    std::memcpy(&out, &value, sizeof out);  // the low bytes: x86-64 and aarch64 are little-endian
    return out;
  }
}

inline void look(Array& t) {
  t.look();
}
inline void look(std::optional<Array>& t) {
  if (t) t->look();
}
template <class Number>
void look(const Number& /*unused*/) {}

template <class Result, class... Arguments, std::size_t... i>
void call(Result (*function)(Arguments...), Value* stack, std::index_sequence<i...> /*unused*/) {
  // All are taken before anything can fail: what torch has pushed is then given back in every case.
  std::tuple<std::remove_cvref_t<Arguments>...> values{taken<std::remove_cvref_t<Arguments>>(stack[i])...};
  (look(std::get<i>(values)), ...);
  if constexpr (std::is_void_v<Result>) {
    function(std::get<i>(values)...);
  } else if constexpr (std::is_same_v<Result, Array>) {
    Array out = function(std::get<i>(values)...);
    stack[0] = reinterpret_cast<Value>(out.release());
  } else {
    Result out = function(std::get<i>(values)...);
    for (std::size_t k = 0; k < out.size(); ++k) stack[k] = reinterpret_cast<Value>(out[k].release());
  }
}

template <class Result, class... Arguments>
void call(Result (*function)(Arguments...), Value* stack) {
  call(function, stack, std::index_sequence_for<Arguments...>());
}

template <auto function>
void boxed(Value* stack, std::uint64_t /*arguments*/, std::uint64_t /*results*/) {
  try {
    call(function, stack);
  } catch (const Error& e) {
    // The library's own errors would become others than RuntimeError in torch's hands.
    throw std::runtime_error(std::string("nervanagpu: ") + e.what());
  }
}

}  // namespace nervanagpu::python::torch

// Arguments as torch's stable interface gives them to a kernel, held until it is done, for a function of Array and numbers, and
// for one of Python where that does not do it.
#pragma once

#include "python/torch_ops/from_python.h"
// from_python.h, with Python.h, has to be the first.
#include <array>
#include <exception>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "python/torch_ops/operators.h"
#include "python/torch_ops/shim.h"

// torch's class of what becomes an error of Python, as far as catching one goes: it asks for the class and the text.
namespace torch {
struct __attribute__((visibility("default"))) PyTorchError : public std::exception {
  virtual PyObject* python_type() = 0;
};
}  // namespace torch

namespace nervanagpu::python::torch {

// Python's lock, of whatever thread.
class Locked {
 public:
  Locked() : state_(PyGILState_Ensure()) {}
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

// Throws Python's error, which there is, so that torch makes one of that class again.
[[noreturn]] void throw_python_error();

// --- one argument: value() is for a function, throws NotHere; in_python() makes a new object, or null ---------------------

template <class T>
class Held;

template <>
class Held<Array> {
 public:
  explicit Held(Value value) : tensor_(taken<Array>(value)) {}
  const Array& value();
  [[nodiscard]] PyObject* in_python() const;

 private:
  Array tensor_;
};

template <>
class Held<std::optional<Array>> {
 public:
  explicit Held(Value value);
  const std::optional<Array>& value();
  [[nodiscard]] PyObject* in_python() const;

 private:
  std::optional<Array> tensor_;
};

// A list, or null.
class HeldList {
 public:
  explicit HeldList(ListObject* list) : list_(list) {}
  HeldList(const HeldList&) = delete;
  HeldList& operator=(const HeldList&) = delete;
  ~HeldList();
  [[nodiscard]] PyObject* in_python(bool bools) const;

 protected:
  [[nodiscard]] Ints numbers() const;

 private:
  ListObject* list_;
};

template <>
class Held<Ints> : public HeldList {
 public:
  explicit Held(Value value) : HeldList(reinterpret_cast<ListObject*>(value)) {}  // NOLINT(performance-no-int-to-ptr)
  [[nodiscard]] Ints value() const { return numbers(); }
  [[nodiscard]] PyObject* in_python() const { return HeldList::in_python(false); }
};

template <>
class Held<Mask> : public HeldList {
 public:
  explicit Held(Value value) : HeldList(reinterpret_cast<ListObject*>(value)) {}  // NOLINT(performance-no-int-to-ptr)
  [[nodiscard]] Mask value() const { return {numbers()}; }
  [[nodiscard]] PyObject* in_python() const { return HeldList::in_python(true); }
};

// What a Value that may be missing is, deleted; 0 and false: missing.
std::pair<Value, bool> taken_if_there(Value value);

template <>
class Held<std::optional<Ints>> : public HeldList {
 public:
  explicit Held(Value value)
      : HeldList(reinterpret_cast<ListObject*>(taken_if_there(value).first)) {}  // NOLINT(performance-no-int-to-ptr)
  [[nodiscard]] PyObject* in_python() const { return HeldList::in_python(false); }
};

template <class T>
class Held<Ignored<T>> {
 public:
  explicit Held(Value value) : held_(value) {}
  [[nodiscard]] Ignored<T> value() const { return {}; }
  [[nodiscard]] PyObject* in_python() const { return held_.in_python(); }

 private:
  Held<T> held_;
};

template <>
class Held<bool> {
 public:
  explicit Held(Value value) : value_(taken<bool>(value)) {}
  [[nodiscard]] bool value() const { return value_; }
  [[nodiscard]] PyObject* in_python() const { return PyBool_FromLong(value_ ? 1 : 0); }

 private:
  bool value_;
};

template <>
class Held<Count> : public Held<bool> {
 public:
  using Held<bool>::Held;
  [[nodiscard]] Count value() const { return {Held<bool>::value()}; }
};

template <>
class Held<std::int64_t> {
 public:
  explicit Held(Value value) : value_(taken<std::int64_t>(value)) {}
  [[nodiscard]] std::int64_t value() const { return value_; }
  [[nodiscard]] PyObject* in_python() const { return PyLong_FromLongLong(value_); }

 private:
  std::int64_t value_;
};

template <>
class Held<Divisor> {
 public:
  explicit Held(Value value) : value_(taken_if_there(value)) {}
  [[nodiscard]] Divisor value() const {
    if (value_.second) throw NotHere();
    return {};
  }
  [[nodiscard]] PyObject* in_python() const {
    return value_.second ? PyLong_FromLongLong(taken<std::int64_t>(value_.first)) : Py_NewRef(Py_None);
  }

 private:
  std::pair<Value, bool> value_;
};

// --- all of them --------------------------------------------------------------------------------------------------------

// Puts results where torch finds them; one without a handle is no tensor.
void put(std::span<Array> results, Value* stack);
// What a function of Python makes of new objects, which are taken: so many tensors, or None. Throws its error.
void put_python(PyObject* other, std::span<PyObject*> arguments, std::size_t results, Value* stack);

template <class Result, class... Given, class Try, std::size_t... k>
void run_held(Result (*function)(Given...), Value* stack, PyObject* other, const Try& ours,
              std::index_sequence<k...> /*unused*/) {
  // All are taken before anything can fail.
  std::tuple<Held<std::remove_cvref_t<Given>>...> held(stack[k]...);
  constexpr std::size_t kResults = [] {
    if constexpr (std::is_same_v<Result, Array>)
      return std::size_t{1};
    else
      return std::tuple_size_v<Result>;
  }();
  const auto call = [&] {
    Result out = function(std::get<k>(held).value()...);
    if constexpr (std::is_same_v<Result, Array>) {
      put({&out, 1}, stack);
    } else {
      put(out, stack);
    }
  };
  if (ours(call)) return;
  const Locked lock;
  std::array<PyObject*, sizeof...(Given)> arguments{std::get<k>(held).in_python()...};
  put_python(other, arguments, kResults, stack);
}

// `function` of the arguments on torch's stack, in `ours`, which says whether it was done; or else `other` of them.
template <class Result, class... Given, class Try>
void run_held(Result (*function)(Given...), Value* stack, PyObject* other, const Try& ours) {
  run_held(function, stack, other, ours, std::index_sequence_for<Given...>());
}

}  // namespace nervanagpu::python::torch

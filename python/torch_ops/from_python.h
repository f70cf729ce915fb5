// Functions of Array and numbers as functions of Python, by its stable interface, so that a file is for every Python, too: what
// is usual runs here, and all else is handed on to a function written in Python.
#pragma once

#define Py_LIMITED_API 0x030a0000  // NOLINT(readability-identifier-naming): Python's name
#include <Python.h>
// Python.h has to be the first.
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "python/torch_ops/array.h"
#include "python/torch_ops/windows.h"

namespace nervanagpu::python::torch {

// Thrown: it is left to Python, which finds out why.
struct NotHere {};

// --- arguments: null where torch has left out what is the default -------------------------------------------------------

template <class T>
T read(PyObject* object) {
  return T::read(object);
}
template <>
Array read<Array>(PyObject* object);
template <>
std::optional<Array> read<std::optional<Array>>(PyObject* object);
template <>
std::vector<Array> read<std::vector<Array>>(PyObject* object);  // a list
template <>
std::int64_t read<std::int64_t>(PyObject* object);
template <>
bool read<bool>(PyObject* object);
template <>
double read<double>(PyObject* object);  // one that is 1 unless it is said

// A list of numbers.
struct Ints {
  std::array<std::int64_t, 5> at{};
  std::size_t count = 0;
  bool given = false;
  static Ints read(PyObject* object);
};

// One number for each axis, `missing` in front of them and by default.
Triple triple(const Ints& list, std::int64_t axes, std::int64_t least, std::int64_t missing);

struct Mask : Ints {  // of bools
  static Mask read(PyObject* object) { return {Ints::read(object)}; }
};

// A number that is not there.
struct Divisor {
  static Divisor read(PyObject* object) {
    if (object != nullptr && object != Py_None) throw NotHere();
    return {};
  }
};

// An argument of this kind that nobody reads.
template <class T>
struct Ignored {
  static Ignored read(PyObject* /*unused*/) { return {}; }
};

// Whether padding counts: unless it is said otherwise.
struct Count {
  bool value;
  static Count read(PyObject* object) { return {object == nullptr || object == Py_True}; }
};

// --- results ------------------------------------------------------------------------------------------------------------

PyObject* in_python(std::span<Array> results);  // one, or a tuple; None for an Array that is none
PyObject* list_in_python(std::span<Array> results);

// --- entries ------------------------------------------------------------------------------------------------------------

constexpr std::size_t kMostArguments = 11;
using Arguments = std::array<PyObject*, kMostArguments>;

// Others may run in Python for as long as this lives.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  ~Unlocked() { PyEval_RestoreThread(state_); }

 private:
  PyThreadState* state_;
};

template <class Result, class... Given, std::size_t... i>
PyObject* attempt(Result (*function)(Given...), const Arguments& arguments, std::index_sequence<i...> /*unused*/) {
  static_assert(sizeof...(Given) <= kMostArguments);
  const std::tuple<std::remove_cvref_t<Given>...> values{read<std::remove_cvref_t<Given>>(arguments[i])...};
  Result out = [&] {
    const Unlocked others;
    return function(std::get<i>(values)...);
  }();
  if constexpr (std::is_same_v<Result, Array>) {
    return in_python({&out, 1});
  } else if constexpr (std::is_same_v<Result, std::vector<Array>>) {
    return list_in_python(out);
  } else {
    return in_python(out);
  }
}

// The result of a function of Arrays, numbers and what else there is a read() for; throws what is not done here.
template <auto function>
PyObject* attempt(const Arguments& arguments) {
  return []<class Result, class... Given>(Result (*f)(Given...), const Arguments& a) {
    return attempt(f, a, std::index_sequence_for<Given...>());
  }(function, arguments);
}

struct Entry {
  std::string_view name;
  PyObject* (*attempt)(const Arguments&);
  std::size_t positional;               // how many arguments have no keyword
  std::array<const char*, 3> keywords;  // of the keyword arguments
};

// What torch calls a kernel of Python with.
struct Given {
  PyObject* const* all;
  Py_ssize_t count;
  PyObject* keywords;   // a tuple, or null; their values stand after the others
  Py_ssize_t in_front;  // how many of them are no arguments: a set of keys, or none
};

// Whether a set of torch's keys has one of these.
bool has_keys(PyObject* keyset, std::uint64_t keys);
// The entry's result, or null: Python's turn.
PyObject* attempted(const Entry& entry, const Given& given);
PyObject* handed_on(PyObject* other, const Given& given);
// How Python is told of a function of its own object, the others, how many they are, and the keywords.
PyMethodDef method(std::string_view name, PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*));

}  // namespace nervanagpu::python::torch

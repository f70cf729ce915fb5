// The GIL, and threads at the end of the interpreter. A daemon thread lives on while the main thread finalises Python, and one
// that asks for the GIL then is ended by Python in the middle of a call: pthread_exit() unwinds its stack (the unwinding is
// not an exception that could end in a handler), through destructors, which std::terminate() ends, or which touch Python's
// objects without the GIL. So wherever a thread may be ended so, it sleeps until the process is gone instead. From version
// 3.14 on, Python does the same.
#pragma once

#include <cxxabi.h>
#include <pybind11/pybind11.h>
#include <unistd.h>

#include <utility>

namespace nervanagpu::python {

[[noreturn]] inline void sleep_forever() noexcept {
  for (;;) pause();
}

// Tells the memory report which statement asked for what this thread allocated, if something has no name yet.
void name_memory_here() noexcept;

// Other threads may run Python until the end of the scope.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {  // C: nothing else is thrown there
      sleep_forever();
    }
    name_memory_here();
  }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

// This thread may use Python until the end of the scope.
class GilAcquire {
 public:
  GilAcquire() {
    try {
      state_ = PyGILState_Ensure();
    } catch (...) {
      sleep_forever();
    }
  }
  ~GilAcquire() { PyGILState_Release(state_); }
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  PyGILState_STATE state_{};
};

// What `f` returns; for calls from C++ of what may be code in Python, which gives up the GIL and asks for it again.
template <class F>
decltype(auto) in_python(F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const abi::__forced_unwind&) {
    sleep_forever();
  }
}

}  // namespace nervanagpu::python

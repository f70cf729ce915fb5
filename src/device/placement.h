// Where an operation runs: on the device where its tensors lie. Each operation on tensors begins with one of these, and what it
// allocates, launches and copies until its end goes there.
#pragma once

#include <initializer_list>
#include <span>

#include "nervanagpu/stream.hpp"
#include "nervanagpu/tensor.hpp"
#include "src/device/select_device.h"

namespace nervanagpu {

class Placed {
 public:
  struct Operand {
    const char* name;
    int device;  // -1: whatever the others say
    Operand(const char* n, const Tensor& t) : name(n), device(t.device()) {}
    Operand(const char* n, const Tensor* t) : name(n), device(t != nullptr ? t->device() : -1) {}
    Operand(const char* n, const Stream& s) : name(n), device(s.device()) {}
    Operand(const char* n, int d) : name(n), device(d) {}
  };
  // InvalidArgument if two operands are on different devices: it names both.
  Placed(const char* operation, std::initializer_list<Operand> operands)
      : on_(agreed(operation, {operands.begin(), operands.size()})) {}
  Placed(const char* operation, std::span<const Operand> operands) : on_(agreed(operation, operands)) {}

  // The device of all of them; -1: of whatever device.
  static int agreed(const char* operation, std::span<const Operand> operands) {
    const Operand* first = nullptr;
    for (const Operand& o : operands) {
      if (o.device < 0) continue;
      if (first == nullptr) first = &o;
      if (o.device != first->device) refuse(operation, *first, o);
    }
    return first != nullptr ? first->device : -1;
  }

 private:
  [[noreturn]] static void refuse(const char* operation, const Operand& a, const Operand& b);
  OnDevice on_;
};

}  // namespace nervanagpu

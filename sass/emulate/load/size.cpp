#include "sass/emulate/load/size.h"

#include "sass/emulate/checked/check.h"
#include "sass/emulate/uop/kernel.h"

namespace nervanagpu::sass::emulate {
namespace {

template <class T>
std::size_t bytes_of(const std::vector<T>& v) {
  return v.capacity() * sizeof(T);
}

constexpr std::size_t kInPlace = 15;  // characters of a string that takes no memory of its own

}  // namespace

std::size_t bytes_of(const Kernel& k) {
  std::size_t n = sizeof k + bytes_of(k.constant0) + bytes_of(k.constant2) + bytes_of(k.uops) + bytes_of(k.details) +
                  bytes_of(k.checks) + bytes_of(k.quick) + bytes_of(k.text) + bytes_of(k.lines.runs());
  for (const CheckOp& op : k.checks) n += bytes_of(op.guard) + bytes_of(op.uses) + bytes_of(op.defs);
  for (const std::string& s : k.text) n += s.capacity() > kInPlace ? s.capacity() + 1 : 0;
  return n;
}

}  // namespace nervanagpu::sass::emulate

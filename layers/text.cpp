#include "layers/text.h"

#include "nervanagpu/error.hpp"

namespace nervanagpu::layers {

std::string text_of(const std::vector<std::int64_t>& list) {
  std::string out = "(";
  for (std::size_t i = 0; i < list.size(); ++i) out += (i > 0 ? ", " : "") + std::to_string(list[i]);
  return out + (list.size() == 1 ? ",)" : ")");
}

std::int64_t product(const std::vector<std::int64_t>& list) {
  std::int64_t out = 1;
  for (const std::int64_t v : list) out *= v;
  return out;
}

void refuse(const std::string& what, const std::string& got, const std::string& needs) {
  throw InvalidArgument(what + " is " + got + "; needs " + needs);
}

}  // namespace nervanagpu::layers

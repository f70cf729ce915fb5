#include "src/device/device.h"

#include <string>

#include "nervanagpu/error.hpp"

namespace nervanagpu {

void refuse_in_graph(const char* what) {
  throw Error(std::string("graph: ") + what + " while this thread records one");
}

}  // namespace nervanagpu

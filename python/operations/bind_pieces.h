// Pieces in an operand's place.
#pragma once

#include "python/bind.h"

namespace nervanagpu::python {

// nullptr: it is something else.
const Pieces* pieces_of(const py::handle& h);

}  // namespace nervanagpu::python

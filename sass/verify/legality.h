// Rules that one instruction obeys or breaks by itself, or with its neighbour: control codes, register numbers and
// alignment, stale operand caches.
#pragma once

#include "sass/verify/finding.h"

namespace nervanagpu::sass::verify_detail {

void check_legality(const Code& code, Findings& out);

}  // namespace nervanagpu::sass::verify_detail

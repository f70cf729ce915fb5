// Kernels that may start before the work ahead of them has ended: they wait before they touch what it may have written.
#pragma once

#include "sass/verify/finding.h"

namespace nervanagpu::sass::verify_detail {

// `.launch programmatic`: an access to global memory that some path reaches without an ACQBULK. Generic addresses count.
void check_programmatic_launch(const Code& code, Findings& out);

}  // namespace nervanagpu::sass::verify_detail

// What .nv.info.K says about kernel K: parameters, CTA size, barriers.
#pragma once

#include "sass/bytes.h"
#include "sass/cubin.h"

namespace nervanagpu::sass {

Status read_info_of_kernel(Arch arch, ByteView section, KernelImage& kernel);

}  // namespace nervanagpu::sass

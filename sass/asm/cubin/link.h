// link: kernel images -> the bytes of a cubin. write_cubin is declared in sass/cubin.h; here is the check
// that it runs on each kernel first, which says what no cubin can hold.
#pragma once

#include "sass/cubin.h"

namespace nervanagpu::sass {

Status check_kernel_image(Arch arch, const KernelImage& kernel);

}  // namespace nervanagpu::sass

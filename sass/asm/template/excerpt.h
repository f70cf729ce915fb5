// The line of the template that an error speaks of, with a mark under the place.
#pragma once

#include "sass/asm/pipeline.h"
#include "sass/result.h"

namespace nervanagpu::sass {

// `d` with two notes more, in front: the source line and "^~~~" under what is wrong. Unchanged where its file is neither
// the template nor one that it includes.
Diag with_excerpt(Diag d, const Template& source);

}  // namespace nervanagpu::sass

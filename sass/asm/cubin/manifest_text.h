// Manifest <-> the text that travels in the cubin's .ngasm.manifest.K section. Strict: keys in one order, each once,
// nothing else; write and read are inverse.
#pragma once

#include <string>
#include <string_view>

#include "sass/asm/program.h"
#include "sass/result.h"

namespace nervanagpu::sass {

std::string manifest_text(const Manifest& manifest);
Result<Manifest> read_manifest(std::string_view text);

}  // namespace nervanagpu::sass

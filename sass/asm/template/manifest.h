// The front matter of a template: its directives, one by one.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sass/asm/pipeline.h"
#include "sass/asm/program.h"
#include "sass/asm/template/template.h"

namespace nervanagpu::sass {

std::optional<ParamType> param_type_from(std::string_view name);

// "u64 a": appended to `params` at the next naturally aligned offset. Columns of Diags count from 1 in `text`.
Status add_param(std::string_view text, std::vector<Param>& params);

// "sm_90a, sm_80"
Result<std::vector<Arch>> read_archs(std::string_view text);

// One .variants line: "TA={n,t} BM=128 BN={64, 128}" -> the cross product, the last name fastest.
Result<std::vector<Defines>> read_variants(std::string_view text);

bool is_front_matter(std::string_view directive);

// Kernel names: letters, digits, _ and $, not starting with a digit, 1 to 255 characters.
bool is_kernel_name(std::string_view name);

}  // namespace nervanagpu::sass

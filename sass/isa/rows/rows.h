// The tables of instruction forms, a file for each unit and length of words; rows.cpp lists them. Each row says on which
// architectures it exists: words of 64 bits are those of sm_50 to sm_62, words of 128 bits those since sm_75.
#pragma once

#include <span>

#include "sass/isa/rows/row.h"

namespace nervanagpu::sass {

std::span<const Row> rows128_float();
std::span<const Row> rows128_integer();
std::span<const Row> rows128_half();
std::span<const Row> rows128_uniform();
std::span<const Row> rows128_memory();
std::span<const Row> rows128_older_memory();
std::span<const Row> rows128_control();
std::span<const Row> rows128_texture();
std::span<const Row> rows128_tensor();
std::span<const Row> rows128_gmma();
std::span<const Row> rows128_async();
std::span<const Row> rows128_cluster();
std::span<const Row> rows64_float();
std::span<const Row> rows64_half();
std::span<const Row> rows64_video();
std::span<const Row> rows64_integer();
std::span<const Row> rows64_convert();
std::span<const Row> rows64_memory();
std::span<const Row> rows64_control();

}  // namespace nervanagpu::sass

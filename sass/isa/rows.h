// The files of the table; rows.cpp lists them.
#pragma once

#include <span>

#include "sass/isa/row.h"

namespace nervanagpu::sass {

std::span<const Row> rows_sm50_float();
std::span<const Row> rows_sm50_integer();
std::span<const Row> rows_sm50_half();
std::span<const Row> rows_sm50_video();
std::span<const Row> rows_sm50_convert();
std::span<const Row> rows_sm50_memory();
std::span<const Row> rows_sm50_control();
std::span<const Row> rows_sm75();
std::span<const Row> rows_sm90_float();
std::span<const Row> rows_sm90_integer();
std::span<const Row> rows_sm90_half();
std::span<const Row> rows_sm90_uniform();
std::span<const Row> rows_sm90_memory();
std::span<const Row> rows_sm90_control();
std::span<const Row> rows_sm90_texture();
std::span<const Row> rows_sm90_more();
std::span<const Row> rows_sm90_rare();
std::span<const Row> rows_sm90_tensor();
std::span<const Row> rows_sm90_gmma();
std::span<const Row> rows_sm90_async();
std::span<const Row> rows_sm90_cluster();

}  // namespace nervanagpu::sass

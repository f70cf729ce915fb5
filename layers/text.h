// Numbers and shapes in messages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nervanagpu::layers {

std::string text_of(const std::vector<std::int64_t>& list);  // "(3, 4)", "(3,)"
std::int64_t product(const std::vector<std::int64_t>& list);

[[noreturn]] void refuse(const std::string& what, const std::string& got, const std::string& needs);  // InvalidArgument

}  // namespace nervanagpu::layers

// A kernel's `.bound`, read: how far a sum may lie from the exact one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace nervanagpu::test {

// + - * / ^ ( ), numbers, the names of `values`, gamma(x) = x u / (1 - x u) with u = 2^-24, ceil(x), min(x, y). None: it cannot be
// read, or asks for something else.
std::optional<double> bound_of(std::string_view text, const std::map<std::string, double, std::less<>>& values);

}  // namespace nervanagpu::test

// Where a template's .include may read: below the folders that are named for it, and nowhere else.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sass/result.h"

namespace nervanagpu::sass {

// Looks for a name in each of `folders` in turn ("": the current one). What lies outside of all of them, by "..", as an
// absolute path or through a link, is refused, whether it exists or not, and none of it is shown.
std::function<Result<std::string>(const std::string&)> include_from(std::vector<std::string> folders);

}  // namespace nervanagpu::sass

// Reading files that may be anything: only ordinary ones are opened, and no more is read than asked for.
#pragma once

#include <cstddef>
#include <string>

#include "sass/result.h"

namespace nervanagpu::sass {

// The bytes of an ordinary file of at most `most` bytes. A folder, a device, a pipe or a socket is an error, and is not
// waited for; so is a longer file, of which nothing is kept.
Result<std::string> read_file(const std::string& path, std::size_t most);

}  // namespace nervanagpu::sass

// Files that the tools read and write.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "sass/file.h"
#include "sass/tools/commands.h"

namespace nervanagpu::sass::tools {

Result<CubinImage> load_cubin(const std::string& path) {
  Result<std::string> bytes = read_file(path, kMaxCubinBytes);
  if (!bytes.ok()) return bytes.error();
  Result<CubinImage> image = read_cubin(reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size());
  if (!image.ok()) {
    Diag d = image.error();
    if (d.at.file.empty()) d.at.file = path;
    return d;
  }
  return image;
}

Status write_file(const std::string& path, const void* data, std::size_t size) {
  std::error_code ec;
  if (std::filesystem::is_directory(path, ec)) return error("cannot write `" + path + "`: it is a directory");
  // What exists and is no ordinary file (a pipe, /dev/stdout) is written to, not replaced.
  const bool special = std::filesystem::exists(path, ec) && !std::filesystem::is_regular_file(path, ec);
  const std::string target = special ? path : path + ".tmp" + std::to_string(::getpid());
  std::FILE* f = std::fopen(target.c_str(), "wb");
  if (f == nullptr) return error("cannot write `" + path + "`: " + std::strerror(errno));
  const bool written = size == 0 || std::fwrite(data, 1, size, f) == size;
  int reason = written ? 0 : errno;
  if (std::fclose(f) != 0 && reason == 0) reason = errno;
  if (reason == 0 && !special && std::rename(target.c_str(), path.c_str()) != 0) reason = errno;
  if (reason != 0) {
    if (!special) std::remove(target.c_str());
    return error("cannot write `" + path + "`: " + std::strerror(reason));
  }
  return Done{};
}

}  // namespace nervanagpu::sass::tools

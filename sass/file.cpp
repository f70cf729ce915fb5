#include "sass/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace nervanagpu::sass {
namespace {

// Closes what it was given.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

// What is no ordinary file.
const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  if (S_ISFIFO(mode)) return "a pipe";
  return "no ordinary file";
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t most) {
  const auto failed = [&](int reason) { return error("cannot read `" + path + "`: " + std::strerror(reason)); };
  const auto too_long = [&](const std::string& has) {
    return error("`" + path + "` has " + has + " bytes; at most " + std::to_string(most) + " are read");
  };
  // Without waiting: the writer of a pipe may never come.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (file.get() < 0) return failed(errno);
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) return failed(errno);
  if (!S_ISREG(about.st_mode)) return error("`" + path + "` is " + kind_of(about.st_mode));
  const auto size = static_cast<std::size_t>(std::max<off_t>(about.st_size, 0));
  if (size > most) return too_long(std::to_string(size));
  // The size is what it was: the file may grow, and those of /proc say 0.
  std::string out;
  out.reserve(size + 1);
  char chunk[65536];
  while (true) {
    const ssize_t got = ::read(file.get(), chunk, std::min(sizeof chunk, most + 1 - out.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(errno);
    if (got == 0) return out;
    out.append(chunk, static_cast<std::size_t>(got));
    if (out.size() > most) return too_long("more than " + std::to_string(most));
  }
}

}  // namespace nervanagpu::sass

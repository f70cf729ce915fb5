#include "src/private_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>

namespace nervanagpu {
namespace {

// Closed when it goes.
class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

// This user's, and nobody else may write to it.
bool ours(const struct stat& s) {
  return s.st_uid == ::geteuid() && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd, text.data(), text.size());
    if (put <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

}  // namespace

std::optional<std::string> read_private(const std::string& path, std::size_t most) {
  // Not a link, and nothing that would make a reader wait.
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat s {};
  if (file.get() < 0 || ::fstat(file.get(), &s) != 0 || !S_ISREG(s.st_mode) || !ours(s)) return std::nullopt;
  if (s.st_size < 0 || static_cast<std::size_t>(s.st_size) > most) return std::nullopt;
  std::string out(static_cast<std::size_t>(s.st_size), '\0');
  std::size_t have = 0;
  while (have < out.size()) {
    const ssize_t got = ::read(file.get(), out.data() + have, out.size() - have);
    if (got <= 0) return std::nullopt;
    have += static_cast<std::size_t>(got);
  }
  return out;
}

void replace_private(const std::string& path, const std::string& text) {
  std::string name = path + ".XXXXXX";
  const File file(::mkostemp(name.data(), O_CLOEXEC));
  if (file.get() < 0) return;
  if (!write_all(file.get(), text) || ::rename(name.c_str(), path.c_str()) != 0) ::unlink(name.c_str());
}

bool make_private_folder(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(folder).parent_path(), failed);
  if (failed) return false;
  ::mkdir(folder.c_str(), S_IRWXU);
  struct stat s {};
  return ::stat(folder.c_str(), &s) == 0 && S_ISDIR(s.st_mode) && ours(s);
}

FolderLock::FolderLock(const std::string& folder)
    : folder_(::open(folder.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY)) {
  constexpr int kMostTries = 5'000;
  for (int i = 0; i < kMostTries && ::flock(folder_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

FolderLock::~FolderLock() {
  if (folder_ >= 0) ::close(folder_);  // which unlocks it
}

}  // namespace nervanagpu

// Files of this user's that any number of processes read and write at the same time. Nobody else may have written to them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace nervanagpu {

// Its text; none: it is no such file, or has more than `most` bytes.
std::optional<std::string> read_private(const std::string& path, std::size_t most);
// The whole file at once: others see the old one or the new one. Failures are not reported.
void replace_private(const std::string& path, const std::string& text);
// Makes a folder that only this user writes to; false: it is none.
bool make_private_folder(const std::string& folder);

// Held until it goes, so that of two who add at once neither loses what the other added. A writer that was stopped halfway is
// not waited for longer than some seconds.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int folder_;
};

}  // namespace nervanagpu

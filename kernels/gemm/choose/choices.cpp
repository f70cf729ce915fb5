#include "kernels/gemm/choose/choices.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "nervanagpu/version.hpp"

namespace nervanagpu::sgemm {
namespace {

constexpr std::size_t kMostBytes = std::size_t{4} << 20;
constexpr std::size_t kMostChoices = 10'000;
constexpr std::size_t kMostLetters = 400;

bool plain(char c) {
  return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

std::string plain_text(const std::string& s) {
  std::string out;
  for (const char c : s) out += plain(c) ? c : '?';
  return out;
}

// Letters, digits and dashes.
std::string file_word(const std::string& s) {
  std::string out;
  for (const char c : s) {
    const bool word =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
    out += word ? c : '-';
  }
  return out;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<Strings> all() {
    Strings out;
    if (!take('{')) return std::nullopt;
    if (take('}')) return ended() ? std::optional(out) : std::nullopt;
    do {
      auto name = string();
      if (!name || !take(':')) return std::nullopt;
      auto value = string();
      if (!value || out.size() >= kMostChoices) return std::nullopt;
      if (!out.emplace(std::move(*name), std::move(*value)).second) return std::nullopt;  // twice
    } while (take(','));
    return take('}') && ended() ? std::optional(out) : std::nullopt;
  }

 private:
  void space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  bool take(char c) {
    space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool ended() {
    space();
    return at_ == text_.size();
  }
  std::optional<std::string> string() {
    if (!take('"')) return std::nullopt;
    const std::size_t begin = at_;
    while (at_ < text_.size() && plain(text_[at_])) ++at_;
    if (at_ >= text_.size() || text_[at_] != '"' || at_ - begin > kMostLetters) return std::nullopt;
    return std::string(text_.substr(begin, at_++ - begin));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

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

std::optional<std::string> contents_of(const std::string& path) {
  // Not a link, and nothing that would make a reader wait.
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat s {};
  if (file.get() < 0 || ::fstat(file.get(), &s) != 0 || !S_ISREG(s.st_mode) || !ours(s)) return std::nullopt;
  if (s.st_size < 0 || static_cast<std::size_t>(s.st_size) > kMostBytes) return std::nullopt;
  std::string out(static_cast<std::size_t>(s.st_size), '\0');
  std::size_t have = 0;
  while (have < out.size()) {
    const ssize_t got = ::read(file.get(), out.data() + have, out.size() - have);
    if (got <= 0) return std::nullopt;
    have += static_cast<std::size_t>(got);
  }
  return out;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd, text.data(), text.size());
    if (put <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

// A folder that only this user writes to.
bool make_folder(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(folder).parent_path(), failed);
  if (failed) return false;
  ::mkdir(folder.c_str(), S_IRWXU);
  struct stat s {};
  return ::stat(folder.c_str(), &s) == 0 && S_ISDIR(s.st_mode) && ours(s);
}

// Held until it goes, so that of two who add at once neither loses what the other added. A writer that was stopped
// halfway is not waited for: what is lost then is a choice, which is measured anew.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder) : file_(::open(folder.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY)) {
    constexpr int kMostTries = 5'000;
    for (int i = 0; i < kMostTries && ::flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  File file_;  // closing it unlocks
};

// The whole file at once: others see the old one or the new one.
void replace(const std::string& path, const std::string& text) {
  std::string name = path + ".XXXXXX";
  const File file(::mkostemp(name.data(), O_CLOEXEC));
  if (file.get() < 0) return;
  if (!write_all(file.get(), text) || ::rename(name.c_str(), path.c_str()) != 0) ::unlink(name.c_str());
}

}  // namespace

std::optional<Strings> read_strings(std::string_view text) {
  return Reader(text).all();
}

std::string text_of(const Strings& strings) {
  std::string out = "{";
  for (const auto& [name, value] : strings) {
    out += out.size() == 1 ? "\n  \"" : ",\n  \"";
    out += name;
    out += "\": \"";
    out += value;
    out += '"';
  }
  return out + "\n}\n";
}

Choices::Choices(const std::string& folder, const DeviceInfo& device) : folder_(folder) {
  head_ = {{"file", "nervanagpu gemm choices 1"},
           {"gpu", plain_text(device.name + ", " + device.arch)},
           {"driver", std::to_string(device.driver)},
           {"library", plain_text(version())}};
  if (folder_.empty()) return;
  path_ = folder_ + "/gemm-" + file_word(device.name + "-" + device.arch) + "-" + std::to_string(device.driver) + "-" +
          file_word(version()) + ".json";
}

Strings Choices::load() const {
  if (path_.empty()) return {};
  const auto text = contents_of(path_);
  auto all = text ? read_strings(*text) : std::nullopt;
  if (!all) return {};
  for (const auto& [name, value] : head_) {
    const auto it = all->find(name);
    if (it == all->end() || it->second != value) return {};
    all->erase(it);
  }
  return *all;
}

void Choices::add(const Strings& choices) const {
  if (path_.empty() || !make_folder(folder_)) return;
  const FolderLock lock(folder_);
  Strings all = load();
  for (const auto& [name, value] : choices) all[name] = value;
  all.insert(head_.begin(), head_.end());
  if (all.size() <= kMostChoices) replace(path_, text_of(all));
}

}  // namespace nervanagpu::sgemm

#include "sass/asm/template/include.h"

#include <algorithm>
#include <filesystem>

#include "sass/asm/template/template.h"
#include "sass/file.h"

namespace nervanagpu::sass {
namespace {

namespace fs = std::filesystem;

// Without links, "." and "..", as far as it exists; empty: it cannot be said.
fs::path resolved(const fs::path& path) {
  std::error_code ec;
  fs::path out = fs::weakly_canonical(path.empty() ? fs::path(".") : path, ec);
  if (ec || out.empty()) return {};
  if (out.is_relative()) out = fs::absolute(out, ec).lexically_normal();
  if (!out.has_filename()) out = out.parent_path();  // "/lib/" is "/lib"
  return ec ? fs::path() : out;
}

bool is_below(const fs::path& path, const fs::path& folder) {
  if (path.empty() || folder.empty()) return false;
  const auto [in_folder, in_path] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return in_folder == folder.end() && in_path != path.end();
}

std::string shown(const std::string& folder) {
  return folder.empty() ? "." : folder;
}

}  // namespace

std::function<Result<std::string>(const std::string&)> include_from(std::vector<std::string> folders) {
  return [folders = std::move(folders)](const std::string& name) -> Result<std::string> {
    std::vector<fs::path> roots;
    std::string looked;
    for (const std::string& folder : folders) {
      roots.push_back(resolved(folder));
      looked += (looked.empty() ? "" : ", ") + shown(folder);
    }
    bool outside = folders.empty();
    for (const std::string& folder : folders) {
      const fs::path candidate = resolved(fs::path(folder) / name);
      if (std::ranges::none_of(roots, [&](const fs::path& root) { return is_below(candidate, root); })) {
        outside = true;
        continue;
      }
      std::error_code ec;
      if (fs::exists(candidate, ec)) return read_file(candidate.string(), kMaxSourceBytes);
    }
    if (!outside) return error("there is no file `" + name + "`", {"looked in " + looked});
    return error(
        "`" + name + "` is not below a folder that may be included from",
        {"these may be: " + (looked.empty() ? "none" : looked), "ngasm -I DIR, or include_dirs, names another folder"});
  };
}

}  // namespace nervanagpu::sass

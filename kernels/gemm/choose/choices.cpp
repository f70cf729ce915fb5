#include "kernels/gemm/choose/choices.h"

#include <algorithm>

#include "nervanagpu/error.hpp"
#include "nervanagpu/version.hpp"
#include "src/json.h"
#include "src/private_file.h"

namespace nervanagpu::sgemm {
namespace {

constexpr std::size_t kMostBytes = std::size_t{4} << 20;
constexpr std::size_t kMostChoices = 10'000;
constexpr std::size_t kMostLetters = 400;

bool plain(char c) {
  return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}
bool plain(const std::string& s) {
  return s.size() <= kMostLetters && std::ranges::all_of(s, [](char c) { return plain(c); });
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

}  // namespace

std::optional<Strings> read_strings(std::string_view text) {
  Json json;
  try {
    json = parse_json(text);
  } catch (const Error&) {
    return std::nullopt;
  }
  if (json.kind != Json::Kind::object || json.items.size() > kMostChoices) return std::nullopt;
  Strings out;
  for (std::size_t i = 0; i < json.items.size(); ++i) {
    const Json& value = json.items[i];
    if (value.kind != Json::Kind::text || !plain(json.names[i]) || !plain(value.text)) return std::nullopt;
    out.emplace(json.names[i], value.text);
  }
  return out;
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
  const auto text = read_private(path_, kMostBytes);
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
  if (path_.empty() || !make_private_folder(folder_)) return;
  const FolderLock lock(folder_);
  Strings all = load();
  for (const auto& [name, value] : choices) all[name] = value;
  all.insert(head_.begin(), head_.end());
  if (all.size() <= kMostChoices) replace_private(path_, text_of(all));
}

}  // namespace nervanagpu::sgemm

#include "test/cudac/program.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "sass/asm/pipeline.h"

namespace nervanagpu::test {
namespace {

constexpr const char* kDigests = NG_SOURCE_DIR "/test/data/digests/cudac.txt";

// Lines `abi case digest`; # begins a comment. Recorded by NG_RECORD_DIGESTS=FILE on an H200.
const std::map<std::string, std::string>& recorded() {
  static const auto all = [] {
    std::map<std::string, std::string> map;
    std::ifstream file(kDigests);
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string abi, name, digest;
      if (line.starts_with("#") || !(words >> abi >> name >> digest)) continue;
      map[abi + " " + name] = digest;
    }
    return map;
  }();
  return all;
}

// FNV-1a.
std::string digest_of(const void* data, std::size_t bytes) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < bytes; ++i) {
    h = (h ^ static_cast<const std::uint8_t*>(data)[i]) * 0x100000001b3u;
  }
  char text[24];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(h));
  return text;
}

}  // namespace

std::vector<Setting> settings() {
  using sass::emulate::Mode;
  if (on_gpu()) return {{7, Mode::kFast}, {8, Mode::kFast}};
  return {{7, Mode::kFast}, {7, Mode::kChecked}, {8, Mode::kFast}, {8, Mode::kChecked}};
}

std::vector<Setting> settings_of_templates() {
  std::vector<Setting> all = settings();
  std::erase_if(all, [](const Setting& s) { return s.abi != 7; });
  return all;
}

std::string setting_name(const testing::TestParamInfo<Setting>& info) {
  return "abi" + std::to_string(info.param.abi) +
         (on_gpu()                                        ? "_gpu"
          : info.param.mode == sass::emulate::Mode::kFast ? "_fast"
                                                          : "_checked");
}

void Program::SetUp() {
  chip_ = on_gpu() ? make_gpu() : make_emulator(GetParam().mode);
  ASSERT_NE(chip_, nullptr) << "there is no GPU";
  ASSERT_EQ(chip_->load(cubin()), "");
}

std::vector<std::uint8_t> Program::cubin() const {
  const std::string path = NG_SOURCE_DIR "/test/data/cudac/" + file_;
  if (std::filesystem::exists(path + ".sass")) {
    const auto source = sass::read_template(path + ".sass", {});
    EXPECT_TRUE(source.ok());
    if (!source.ok()) return {};
    const auto image = sass::assemble(*source, sass::Arch::sm_90a, {});
    EXPECT_TRUE(image.ok()) << (image.ok() ? "" : image.error().text());
    if (!image.ok()) return {};
    const auto bytes = sass::write_cubin(*image);
    return bytes.ok() ? *bytes : std::vector<std::uint8_t>();
  }
  std::ifstream file(path + (GetParam().abi == 7 ? ".cubin" : ".abi8.cubin"), std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  return {bytes.begin(), bytes.end()};
}

void Program::expect_digest(const std::string& name, const void* data, std::size_t bytes) {
  const std::string key = std::to_string(GetParam().abi) + " " + file_ + "." + name;
  const std::string digest = digest_of(data, bytes);
  if (const char* path = std::getenv("NG_RECORD_DIGESTS"); path != nullptr && on_gpu()) {
    std::ofstream(path, std::ios::app) << key << " " << digest << "\n";
    return;
  }
  const auto it = recorded().find(key);
  if (it == recorded().end()) {
    ADD_FAILURE() << kDigests << (recorded().empty() ? " is missing or empty; it should have a" : " has no")
                  << " line for " << key;
    return;
  }
  EXPECT_EQ(digest, it->second) << key << ": not what the H200 computed";
}

}  // namespace nervanagpu::test

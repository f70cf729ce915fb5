#include "test/gpu/peer_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

namespace nervanagpu::gpu_test {
namespace {

const char* const kCudaFolder = "/usr/local/cuda/lib64";

}  // namespace

std::vector<std::string> library_folders(const char* variable) {
  std::vector<std::string> out;
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::string_view part = rest.substr(0, colon);
    if (!part.empty()) out.emplace_back(part);
    rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
  }
  return out;
}

PeerLibrary open_library(const std::vector<std::string>& names, const std::vector<std::string>& folders) {
  std::vector<std::string> prefixes;
  for (const std::string& folder : folders) prefixes.push_back(folder + "/");
  prefixes.emplace_back("");  // the loader's path
  prefixes.push_back(std::string(kCudaFolder) + "/");
  PeerLibrary out;
  std::string said;
  for (const std::string& name : names) {
    for (const std::string& prefix : prefixes) {
      out.path = prefix + name;
      out.handle = dlopen(out.path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (out.handle != nullptr) return out;
      if (const char* text = dlerror(); text != nullptr) said = text;
    }
  }
  out.path.clear();
  out.why = "no " + (names.empty() ? "name" : names.front()) + " in " + std::to_string(folders.size()) +
            " folders of NG_CUDA_LIBS, on the loader's path, or in " + kCudaFolder + " (" + said + ")";
  return out;
}

void preload(const std::vector<std::string>& folders) {
  for (const char* name : {"libcudart.so", "libnvrtc-builtins.so", "libnvrtc.so", "libcublasLt.so", "libcublas.so"}) {
    for (const char* version : {".13", ".12"}) {
      bool found = false;
      for (const std::string& folder : folders) {
        found = found || dlopen((folder + "/" + name + version).c_str(), RTLD_LAZY | RTLD_GLOBAL) != nullptr;
      }
      if (found) break;
    }
  }
}

bool peers_required() {
  const char* value = std::getenv("NG_REQUIRE_GPU_PEERS");
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace nervanagpu::gpu_test

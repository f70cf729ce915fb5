// Finds NVIDIA's libraries at run time: in the folders of NG_CUDA_LIBS (dir:dir), on the loader's path, in CUDA's folder.
#pragma once

#include <string>
#include <vector>

namespace nervanagpu::gpu_test {

struct PeerLibrary {
  void* handle = nullptr;  // null: there is none
  std::string path;        // of what was opened
  std::string why;         // else: where was looked, and what the loader said last
};

// NG_CUDA_LIBS, split; empty parts are left out.
std::vector<std::string> library_folders(const char* variable);

// The first of `names` ("libcublas.so.13", ...) that opens. It is never closed.
PeerLibrary open_library(const std::vector<std::string>& names, const std::vector<std::string>& folders);

// Opens what cuBLAS and cuDNN load by name, so that they find it wherever it lies. What is missing is no error here.
void preload(const std::vector<std::string>& folders);

// Why the peers must not be skipped: NG_REQUIRE_GPU_PEERS=1.
bool peers_required();

}  // namespace nervanagpu::gpu_test

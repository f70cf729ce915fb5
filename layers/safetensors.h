// Files of named arrays: 8 bytes of length, a JSON header, then the arrays' bytes, little-endian and row-major.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "nervanagpu/dtype.hpp"
#include "nervanagpu/tensor.hpp"

namespace nervanagpu::layers {

struct SavedArray {
  std::string name;
  Shape shape;
  Dtype dtype = Dtype::float32;  // float32, float16 or bfloat16
  std::vector<std::byte> bytes;
};

struct SavedFile {
  std::map<std::string, std::string> metadata;
  std::vector<SavedArray> arrays;

  [[nodiscard]] const SavedArray* find(const std::string& name) const;
};

// Throws Error, and leaves what was there before, if the file cannot be written.
void write_safetensors(const std::string& path, const SavedFile& file);
// Throws Error if the file cannot be read or is not as it should be.
SavedFile read_safetensors(const std::string& path);
// The same of a file's bytes; `path` is for messages.
SavedFile parse_safetensors(const std::string& path, std::string_view bytes);

}  // namespace nervanagpu::layers

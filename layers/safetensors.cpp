#include "layers/safetensors.h"

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "layers/json.h"
#include "layers/text.h"
#include "nervanagpu/error.hpp"

namespace nervanagpu::layers {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie in memory");

const char* word_of(Dtype dtype) {
  return dtype == Dtype::float16 ? "F16" : "F32";
}

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error("'" + path + "' " + what);
}

std::int64_t whole(const std::string& path, const Json& j) {
  const auto* v = std::get_if<std::int64_t>(&j.value);
  if (v == nullptr || *v < 0) fail(path, "is no safetensors file: a length is no whole number");
  return *v;
}

SavedArray array_of(const std::string& path, const std::string& name, const Json& entry, std::string_view data) {
  const Json* dtype = entry.find("dtype");
  const Json* shape = entry.find("shape");
  const Json* offsets = entry.find("data_offsets");
  const auto* word = dtype != nullptr ? std::get_if<std::string>(&dtype->value) : nullptr;
  const auto* lengths = shape != nullptr ? std::get_if<Json::Array>(&shape->value) : nullptr;
  const auto* ends = offsets != nullptr ? std::get_if<Json::Array>(&offsets->value) : nullptr;
  if (word == nullptr || lengths == nullptr || ends == nullptr || ends->size() != 2) {
    fail(path, "is no safetensors file: the entry of '" + name + "' is incomplete");
  }
  SavedArray a;
  a.name = name;
  if (*word != "F16" && *word != "F32") fail(path, "holds '" + name + "' as " + *word + "; needs F16 or F32");
  a.dtype = *word == "F16" ? Dtype::float16 : Dtype::float32;
  std::uint64_t bytes = size_of(a.dtype);
  for (const Json& j : *lengths) {
    a.shape.push_back(whole(path, j));
    const auto length = static_cast<std::uint64_t>(a.shape.back());
    if (length != 0 && bytes > (std::uint64_t{1} << 62) / length)
      fail(path, "is no safetensors file: '" + name + "' is too large");
    bytes *= length;
  }
  const auto begin = static_cast<std::uint64_t>(whole(path, (*ends)[0]));
  const auto end = static_cast<std::uint64_t>(whole(path, (*ends)[1]));
  if (begin > end || end > data.size() || end - begin != bytes) {
    fail(path, "is damaged: the bytes of '" + name + "' are not where they should be");
  }
  a.bytes.resize(bytes);
  if (bytes > 0) std::memcpy(a.bytes.data(), data.data() + begin, bytes);
  return a;
}

}  // namespace

const SavedArray* SavedFile::find(const std::string& name) const {
  for (const SavedArray& a : arrays) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

void write_safetensors(const std::string& path, const SavedFile& file) {
  Json::Object metadata;
  for (const auto& [name, text] : file.metadata) metadata.emplace_back(name, Json{text});
  std::string text = "{\"__metadata__\":" + to_text({std::move(metadata)});
  std::size_t at = 0;
  for (const SavedArray& a : file.arrays) {
    const std::size_t end = at + a.bytes.size();
    std::string shape;
    for (const std::int64_t v : a.shape) shape += (shape.empty() ? "" : ",") + std::to_string(v);
    text += "," + to_text({a.name}) + ":{\"dtype\":\"" + word_of(a.dtype) + "\",\"shape\":[" + shape +
            "],\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(end) + "]}";
    at = end;
  }
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');  // arrays begin at a multiple of 8
  const std::uint64_t length = text.size();

  const std::string partial = path + ".partial";
  std::ofstream out(partial, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(&length), sizeof length);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  for (const SavedArray& a : file.arrays) {
    out.write(reinterpret_cast<const char*>(a.bytes.data()), static_cast<std::streamsize>(a.bytes.size()));
  }
  out.close();
  if (!out || std::rename(partial.c_str(), path.c_str()) != 0) {
    std::remove(partial.c_str());
    fail(path, "cannot be written");
  }
}

SavedFile read_safetensors(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(path, "cannot be read");
  const std::string all{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  std::uint64_t length = 0;
  if (all.size() < sizeof length) fail(path, "is no safetensors file: it is too short");
  std::memcpy(&length, all.data(), sizeof length);
  if (length > all.size() - sizeof length) fail(path, "is no safetensors file: its header is longer than it is");
  const std::string_view view = all;
  Json header;
  try {
    header = parse_json(view.substr(sizeof length, length));
  } catch (const Error& e) {
    fail(path, std::string("is no safetensors file: ") + e.what());
  }
  const std::string_view data = view.substr(sizeof length + length);
  const auto* entries = std::get_if<Json::Object>(&header.value);
  if (entries == nullptr) fail(path, "is no safetensors file: its header is no object");
  SavedFile file;
  for (const auto& [name, entry] : *entries) {
    if (name != "__metadata__") {
      file.arrays.push_back(array_of(path, name, entry, data));
      continue;
    }
    if (const auto* pairs = std::get_if<Json::Object>(&entry.value)) {
      for (const auto& [key, v] : *pairs) {
        if (const auto* text = std::get_if<std::string>(&v.value)) file.metadata[key] = *text;
      }
    }
  }
  return file;
}

}  // namespace nervanagpu::layers

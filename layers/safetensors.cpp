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
  return dtype == Dtype::float16 ? "F16" : dtype == Dtype::bfloat16 ? "BF16" : "F32";
}

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error("'" + path + "' " + what);
}

std::int64_t whole(const std::string& path, const Json& j) {
  if (j.kind != Json::Kind::whole || j.whole < 0) fail(path, "is no safetensors file: a length is no whole number");
  return j.whole;
}

SavedArray array_of(const std::string& path, const std::string& name, const Json& entry, std::string_view data) {
  const Json* dtype = entry.find("dtype", Json::Kind::text);
  const Json* shape = entry.find("shape", Json::Kind::array);
  const Json* offsets = entry.find("data_offsets", Json::Kind::array);
  if (dtype == nullptr || shape == nullptr || offsets == nullptr || offsets->items.size() != 2) {
    fail(path, "is no safetensors file: the entry of '" + name + "' is incomplete");
  }
  const std::string& word = dtype->text;
  SavedArray a;
  a.name = name;
  if (word != "F16" && word != "BF16" && word != "F32") {
    fail(path, "holds '" + name + "' as " + word + "; needs F16, BF16 or F32");
  }
  a.dtype = word == "F16" ? Dtype::float16 : word == "BF16" ? Dtype::bfloat16 : Dtype::float32;
  std::uint64_t bytes = size_of(a.dtype);
  for (const Json& j : shape->items) {
    a.shape.push_back(whole(path, j));
    const auto length = static_cast<std::uint64_t>(a.shape.back());
    if (length != 0 && bytes > (std::uint64_t{1} << 62) / length)
      fail(path, "is no safetensors file: '" + name + "' is too large");
    bytes *= length;
  }
  const auto begin = static_cast<std::uint64_t>(whole(path, offsets->items[0]));
  const auto end = static_cast<std::uint64_t>(whole(path, offsets->items[1]));
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
  Json metadata = Json::object();
  for (const auto& [name, text] : file.metadata) metadata.add(name, Json(text));
  std::string text = "{\"__metadata__\":" + to_text(metadata);
  std::size_t at = 0;
  for (const SavedArray& a : file.arrays) {
    const std::size_t end = at + a.bytes.size();
    std::string shape;
    for (const std::int64_t v : a.shape) shape += (shape.empty() ? "" : ",") + std::to_string(v);
    text += "," + to_text(Json(a.name)) + ":{\"dtype\":\"" + word_of(a.dtype) + "\",\"shape\":[" + shape +
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
  if (header.kind != Json::Kind::object) fail(path, "is no safetensors file: its header is no object");
  SavedFile file;
  for (std::size_t i = 0; i < header.items.size(); ++i) {
    const Json& entry = header.items[i];
    if (header.names[i] != "__metadata__") {
      file.arrays.push_back(array_of(path, header.names[i], entry, data));
      continue;
    }
    for (std::size_t k = 0; k < entry.names.size(); ++k) {
      if (entry.items[k].kind == Json::Kind::text) file.metadata[entry.names[k]] = entry.items[k].text;
    }
  }
  return file;
}

}  // namespace nervanagpu::layers

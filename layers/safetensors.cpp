#include "layers/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "layers/config_json.h"
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

std::int64_t whole(const std::string& path, const std::string& name, const char* what, const Json& j) {
  if (j.kind != Json::Kind::whole || j.whole < 0) {
    fail(path, "is no safetensors file: the " + std::string(what) + " of '" + name + "' has " + to_text(j) +
                   "; needs whole numbers, 0 or more");
  }
  return j.whole;
}

// Where the bytes of an array lie, of which `name` is known.
struct Place {
  std::uint64_t begin = 0, end = 0;
  const std::string* name = nullptr;
};

// The arrays must fill the data without a gap or a byte in two of them, as the format demands.
void check_places(const std::string& path, std::vector<Place> places, std::uint64_t bytes) {
  std::ranges::sort(places, {}, [](const Place& p) { return std::pair(p.begin, p.end); });
  std::uint64_t at = 0;
  const std::string* before = nullptr;
  for (const Place& p : places) {
    if (p.begin < at) fail(path, "is damaged: '" + *before + "' and '" + *p.name + "' overlap");
    if (p.begin > at) {
      fail(path, "is damaged: " + std::to_string(p.begin - at) + " bytes before '" + *p.name + "' belong to no array");
    }
    at = p.end;
    before = p.name;
  }
  if (at != bytes) fail(path, "is damaged: " + std::to_string(bytes - at) + " bytes at its end belong to no array");
}

SavedArray array_of(const std::string& path, const std::string& name, const Json& entry, std::string_view data,
                    std::vector<Place>& places) {
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
    a.shape.push_back(whole(path, name, "shape", j));
    const auto length = static_cast<std::uint64_t>(a.shape.back());
    if (length != 0 && bytes > (std::uint64_t{1} << 62) / length) {
      fail(path, "is no safetensors file: the shape of '" + name + "' has more than 2^62 bytes");
    }
    bytes *= length;
  }
  const auto begin = static_cast<std::uint64_t>(whole(path, name, "data_offsets", offsets->items[0]));
  const auto end = static_cast<std::uint64_t>(whole(path, name, "data_offsets", offsets->items[1]));
  if (begin > end || end > data.size() || end - begin != bytes) {
    fail(path, "is damaged: '" + name + "' has " + std::to_string(bytes) + " bytes, and data_offsets " +
                   std::to_string(begin) + " to " + std::to_string(end) + " of " + std::to_string(data.size()));
  }
  places.push_back({begin, end, &name});
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
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    fail(path, "is no regular file");
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(path, "cannot be read");
  std::string all;
  try {
    all.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  } catch (const std::ios_base::failure&) {  // as of /proc/self/mem
    fail(path, "cannot be read");
  }
  return parse_safetensors(path, all);
}

SavedFile parse_safetensors(const std::string& path, std::string_view view) {
  std::uint64_t length = 0;
  if (view.size() < sizeof length) fail(path, "is no safetensors file: it is too short");
  std::memcpy(&length, view.data(), sizeof length);
  if (length > view.size() - sizeof length) fail(path, "is no safetensors file: its header is longer than it is");
  Json header;
  try {
    header = parse_json(view.substr(sizeof length, length));
  } catch (const Error& e) {
    fail(path, std::string("is no safetensors file: ") + e.what());
  }
  const std::string_view data = view.substr(sizeof length + length);
  if (header.kind != Json::Kind::object) fail(path, "is no safetensors file: its header is no object");
  SavedFile file;
  std::vector<Place> places;
  for (std::size_t i = 0; i < header.items.size(); ++i) {
    const Json& entry = header.items[i];
    if (header.names[i] != "__metadata__") {
      file.arrays.push_back(array_of(path, header.names[i], entry, data, places));
      continue;
    }
    if (entry.kind != Json::Kind::object) fail(path, "is no safetensors file: its __metadata__ is no object");
    for (std::size_t k = 0; k < entry.names.size(); ++k) {
      if (entry.items[k].kind != Json::Kind::text) {
        fail(path, "is no safetensors file: '" + entry.names[k] + "' of its __metadata__ is no text");
      }
      file.metadata[entry.names[k]] = entry.items[k].text;
    }
  }
  check_places(path, std::move(places), data.size());
  return file;
}

}  // namespace nervanagpu::layers

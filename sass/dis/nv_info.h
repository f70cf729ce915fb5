// The records of .nv.info sections, bounds-checked.
#pragma once

#include <cstdint>
#include <string>

#include "sass/bytes.h"
#include "sass/cubin_abi.h"
#include "sass/result.h"

namespace nervanagpu::sass {

struct InfoRecord {
  InfoFormat format = InfoFormat::kNone;
  std::uint8_t attr = 0;
  std::uint16_t half = 0;  // of kByte and kHalf
  ByteView data;           // of kSized

  [[nodiscard]] bool is(Attr a) const { return attr == static_cast<std::uint8_t>(a); }
  [[nodiscard]] std::uint32_t word(std::size_t i) const { return load_le<std::uint32_t>(data, i * 4); }
};

class InfoReader {
 public:
  // `where` names the section in errors.
  InfoReader(ByteView bytes, std::string where) : bytes_(bytes), where_(std::move(where)) {}

  // The next record; false at the end.
  Result<bool> next(InfoRecord& record);
  // Fails unless the record holds exactly `count` 32-bit words.
  [[nodiscard]] Status need_words(const InfoRecord& record, std::size_t count) const;
  [[nodiscard]] Diag fail(const std::string& message) const;

 private:
  ByteView bytes_;
  std::size_t at_ = 0;
  std::size_t record_at_ = 0;
  std::string where_;
};

}  // namespace nervanagpu::sass

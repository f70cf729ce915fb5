#include "sass/dis/nv_info.h"

namespace nervanagpu::sass {
namespace {

constexpr std::size_t kHeadBytes = 4;

}  // namespace

Diag InfoReader::fail(const std::string& message) const {
  return error(where_ + ", record at byte " + std::to_string(record_at_) + ": " + message);
}

Result<bool> InfoReader::next(InfoRecord& record) {
  record_at_ = at_;
  if (at_ == bytes_.size()) return false;
  if (bytes_.size() - at_ < kHeadBytes) return fail("cut short");
  const std::uint8_t format = bytes_[at_];
  if (format < static_cast<std::uint8_t>(InfoFormat::kNone) || format > static_cast<std::uint8_t>(InfoFormat::kSized)) {
    return fail("format " + std::to_string(format) + ", need 1 to 4");
  }
  record = {static_cast<InfoFormat>(format), bytes_[at_ + 1], load_le<std::uint16_t>(bytes_, at_ + 2), {}};
  at_ += kHeadBytes;
  if (record.format == InfoFormat::kSized) {
    if (bytes_.size() - at_ < record.half) {
      return fail("its " + std::to_string(record.half) + " bytes reach past the section");
    }
    record.data = bytes_.subspan(at_, record.half);
    at_ += record.half;
  }
  return true;
}

Status InfoReader::need_words(const InfoRecord& record, std::size_t count) const {
  if (record.format == InfoFormat::kSized && record.data.size() == count * 4) return Done{};
  return fail("attribute " + std::to_string(record.attr) + " needs " + std::to_string(count * 4) + " bytes, has " +
              std::to_string(record.data.size()));
}

}  // namespace nervanagpu::sass

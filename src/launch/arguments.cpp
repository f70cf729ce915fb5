#include "src/launch/arguments.h"

#include <cstring>
#include <string>

#include "nervanagpu/error.hpp"

namespace nervanagpu {

void Arguments::put(const void* value, std::size_t bytes, sass::ParamType type) {
  const auto& params = manifest_->params;
  if (next_ == params.size()) {
    throw Error("kernel " + manifest_->name + ": argument " + std::to_string(next_ + 1) + " is one too many; takes " +
                std::to_string(params.size()));
  }
  const sass::Param& p = params[next_];
  const bool same = p.type == type || (p.type == sass::ParamType::ptr && type == sass::ParamType::u64);
  if (!same) {
    throw Error("kernel " + manifest_->name + ": argument " + std::to_string(next_ + 1) + " (" + p.name + ") is " +
                std::string(sass::name_of(type)) + "; needs " + std::string(sass::name_of(p.type)));
  }
  if (p.offset < used_ || p.offset + bytes > kMaxBytes) {
    throw Error("kernel " + manifest_->name + ": parameter " + p.name + " lies at offset " + std::to_string(p.offset));
  }
  std::memset(bytes_.data() + used_, 0, p.offset - used_);
  std::memcpy(bytes_.data() + p.offset, value, bytes);
  used_ = p.offset + bytes;
  ++next_;
}

std::span<const std::byte> Arguments::block() const {
  if (next_ != manifest_->params.size()) {
    throw Error("kernel " + manifest_->name + ": " + std::to_string(next_) + " arguments; needs " +
                std::to_string(manifest_->params.size()));
  }
  return {bytes_.data(), used_};
}

}  // namespace nervanagpu

#include "kernels/conv/shared_pieces.h"

#include <optional>

#include "nervanagpu/dtype.hpp"

namespace nervanagpu {

struct SharedPieces::Impl {
  std::optional<Tensor> memory;
  // Whose they are; 0: there are none.
  std::uint64_t address = 0;
  Shape shape, strides;

  [[nodiscard]] bool are_of(const Tensor& t) const {
    return address != 0 && address == t.address() && shape == t.shape() && strides == t.strides();
  }
};

struct SharedPiecesAccess {
  static SharedPieces::Impl& of(SharedPieces& p) { return *p.impl_; }
};

SharedPieces::SharedPieces() : impl_(std::make_shared<Impl>()) {}

bool SharedPieces::made() const {
  return impl_->address != 0;
}

std::size_t SharedPieces::bytes() const {
  return impl_->memory ? static_cast<std::size_t>(impl_->memory->size()) : 0;
}

namespace conv_detail {
namespace {

// Of a tensor of the pass, whose last axis are its channels.
ConvPieces left(SharedPieces& shared, const Tensor& t, const Stream& stream) {
  auto& s = SharedPiecesAccess::of(shared);
  const std::int64_t channels = t.shape().back();
  const auto bytes = static_cast<std::int64_t>(conv_pieces_bytes(t.size() / channels, channels));
  if (!s.memory || s.memory->size() < bytes || s.memory->device() != t.device()) {
    s.memory = Tensor::empty({bytes}, Dtype::uint8);
  }
  s.address = t.address(), s.shape = t.shape(), s.strides = t.strides();
  s.memory->used_on(stream);
  return {s.memory->address(), false};
}

ConvPieces taken(SharedPieces& shared, const Tensor& t, const Stream& stream) {
  const auto& s = SharedPiecesAccess::of(shared);
  if (!s.are_of(t)) return {};
  s.memory->used_on(stream);
  return {s.memory->address(), true};
}

}  // namespace

void share_pieces(ConvPass pass, Described& d, const Tensor& in1, const Tensor& in2, const ConvOptions& options) {
  SharedPieces* first = pass == ConvPass::fprop ? options.x_pieces : options.dy_pieces;
  if (pass == ConvPass::update) {
    if (options.x_pieces != nullptr) d.pointers.x_pieces = taken(*options.x_pieces, in2, options.stream);
    if (first != nullptr) d.pointers.y_pieces = taken(*first, in1, options.stream);
  } else if (first != nullptr) {
    SharedPiecesAccess::of(*first).address = 0;
    if (!conv_makes_pieces(pass, d.problem, d.pointers, options)) return;
    (pass == ConvPass::fprop ? d.pointers.x_pieces : d.pointers.y_pieces) = left(*first, in1, options.stream);
  }
}

}  // namespace conv_detail
}  // namespace nervanagpu

#include "kernels/conv/shared_pieces.h"

#include <optional>
#include <vector>

#include "src/device/select_device.h"
#include "src/memory/storage.h"

namespace nervanagpu {

struct SharedPieces::Impl {
  std::shared_ptr<Storage> memory;
  std::vector<std::shared_ptr<Storage>> outgrown;  // which a recorded graph may still write to
  std::optional<Tensor> of;                        // whose they are, and whose memory so stays its own

  [[nodiscard]] bool are_of(const Tensor& t) const {
    return of && of->address() == t.address() && of->device() == t.device() && of->shape() == t.shape() &&
           of->strides() == t.strides();
  }
};

struct SharedPiecesAccess {
  static SharedPieces::Impl& of(SharedPieces& p) { return *p.impl_; }
};

SharedPieces::SharedPieces() : impl_(std::make_shared<Impl>()) {}

bool SharedPieces::made() const {
  return impl_->of.has_value();
}

std::size_t SharedPieces::bytes() const {
  return impl_->memory ? impl_->memory->bytes() : 0;
}

namespace conv_detail {
namespace {

// Of a tensor whose last axis are its channels.
ConvPieces room_for(SharedPieces& shared, const Tensor& t, const Stream& stream) {
  auto& s = SharedPiecesAccess::of(shared);
  const std::int64_t channels = t.shape().back();
  const std::size_t bytes = conv_pieces_bytes(t.size() / channels, channels);
  Device& device = current_device();
  if (!s.memory || s.memory->bytes() < bytes || &s.memory->device() != &device) {
    auto memory = std::make_shared<Storage>(device, bytes, stream.handle());
    if (s.memory) s.outgrown.push_back(std::move(s.memory));
    s.memory = std::move(memory);
  }
  s.memory->used_on(stream);
  return {s.memory->address(), false};
}

ConvPieces taken(SharedPieces& shared, const Tensor& t, const Stream& stream) {
  const auto& s = SharedPiecesAccess::of(shared);
  if (!s.are_of(t)) return {};
  s.memory->used_on(stream);
  return {s.memory->address(), true};
}

SharedPieces* left_by(ConvPass pass, const ConvOptions& options) {
  return pass == ConvPass::fprop ? options.x_pieces : pass == ConvPass::bprop ? options.dy_pieces : nullptr;
}

}  // namespace

void share_pieces(ConvPass pass, Described& d, const Tensor& in1, const Tensor& in2, const ConvOptions& options) {
  if (pass == ConvPass::update) {
    if (options.x_pieces != nullptr) d.pointers.x_pieces = taken(*options.x_pieces, in2, options.stream);
    if (options.dy_pieces != nullptr) d.pointers.y_pieces = taken(*options.dy_pieces, in1, options.stream);
    return;
  }
  SharedPieces* const left = left_by(pass, options);
  if (left == nullptr) return;
  SharedPiecesAccess::of(*left).of.reset();
  if (!conv_makes_pieces(pass, d.problem, d.pointers, options)) return;
  (pass == ConvPass::fprop ? d.pointers.x_pieces : d.pointers.y_pieces) = room_for(*left, in1, options.stream);
}

void note_pieces(ConvPass pass, const Described& d, const Tensor& in1, const ConvOptions& options) {
  SharedPieces* const left = left_by(pass, options);
  if (left == nullptr || (d.pointers.x_pieces.address | d.pointers.y_pieces.address) == 0) return;
  SharedPiecesAccess::of(*left).of = in1;
}

}  // namespace conv_detail
}  // namespace nervanagpu

#include "src/fuse/kernels/flat.h"

#include <array>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "src/ceil_div.h"
#include "src/device/select_device.h"
#include "src/fuse/kernel.h"
#include "src/fuse/kernel_cache.h"
#include "src/fuse/kernels/elementwise.h"
#include "src/fuse/kernels/values.h"

namespace nervanagpu::fuse {
namespace {

// The structure of a tree as bytes, its addresses and numbers apart: nodes in the order in which program_of() lists
// them, each operand as the number of its node, equal leaves once.
class Structure {
 public:
  Structure(std::uint64_t device, const Tensor& to) : to_(to) {
    std::memcpy(key_.data(), &device, sizeof device);
    length_ = sizeof device;
  }

  // False: too large, or no expression of this kind.
  bool add(const expr::Node& n) { return index_of(n) >= 0; }

  [[nodiscard]] std::string_view key() const { return {key_.data(), length_}; }
  [[nodiscard]] std::span<const std::uint64_t> addresses() const { return {address_.data(), addresses_}; }
  [[nodiscard]] std::span<const Number> numbers() const { return {number_.data(), numbers_}; }

 private:
  static constexpr std::size_t kMostNodes = 24, kMostLeaves = 6;

  void put(std::int64_t byte) { key_[length_++] = static_cast<char>(byte); }

  int index_of(const expr::Node& n) {
    for (std::size_t i = 0; i < nodes_; ++i) {
      if (node_[i] == &n) return static_cast<int>(i);
    }
    std::array<int, 3> in{-1, -1, -1};
    if (n.op == ExprOp::tensor) {
      in[0] = tensor(n.tensor);
      if (in[0] < 0) return -1;
    } else if (n.op == ExprOp::scalar) {
      in[0] = number({n.bits, n.dtype});
      if (in[0] < 0) return -1;
    } else if (n.op >= ExprOp::reduce || n.shape != to_.shape()) {
      return -1;
    } else {
      for (std::size_t k = 0; k < n.inputs.size(); ++k) {
        in[k] = index_of(*n.inputs[k]);
        if (in[k] < 0) return -1;
      }
    }
    if (nodes_ == kMostNodes) return -1;
    put(static_cast<int>(n.op));
    put(static_cast<int>(n.dtype));
    for (const int k : in) put(k);
    node_[nodes_] = &n;
    return static_cast<int>(nodes_++);
  }

  int tensor(const Tensor& t) {
    if (t.shape() != to_.shape() || !t.contiguous() || t.address() % 16 != 0) return -1;
    for (std::size_t i = 0; i < addresses_; ++i) {
      if (address_[i] == t.address() && dtype_[i] == t.dtype()) return static_cast<int>(i);
    }
    if (addresses_ == kMostLeaves) return -1;
    address_[addresses_] = t.address();
    dtype_[addresses_] = t.dtype();
    return static_cast<int>(addresses_++);
  }
  int number(const Number& n) {
    for (std::size_t i = 0; i < numbers_; ++i) {
      if (number_[i] == n) return static_cast<int>(i);
    }
    if (numbers_ == kMostLeaves) return -1;
    number_[numbers_] = n;
    return static_cast<int>(numbers_++);
  }

  const Tensor& to_;
  std::array<const expr::Node*, kMostNodes> node_{};
  std::size_t nodes_ = 0;
  std::array<std::uint64_t, kMostLeaves> address_{};
  std::array<Dtype, kMostLeaves> dtype_{};
  std::size_t addresses_ = 0;
  std::array<Number, kMostLeaves> number_{};
  std::size_t numbers_ = 0;
  std::array<char, sizeof(std::uint64_t) + 5 * kMostNodes> key_{};
  std::size_t length_ = 0;
};

Kept<FlatKernel>& known() {
  static auto* k = new Kept<FlatKernel>;
  return *k;
}

}  // namespace

bool run_flat(const expr::Node& node, const Tensor& to) {
  const std::int64_t size = to.size();
  if (size == 0 || size > most_elements() || node.dtype != to.dtype() || !to.contiguous() || to.address() % 16 != 0) {
    return false;
  }
  Structure s(current_device().serial(), to);
  if (!s.add(node)) return false;
  std::shared_ptr<const FlatKernel> kernel = known().find(s.key());
  if (kernel == nullptr) {
    auto made =
        flat_kernel(program_of({{std::const_pointer_cast<expr::Node>(node.shared_from_this()), to}}, to.shape()));
    if (made == nullptr) return false;
    kernel = known().keep(s.key(), std::move(made), sizeof(FlatKernel));
  }
  std::array<std::byte, 256> bytes{};
  std::size_t end = 0;
  const auto put = [&](std::uint64_t v, std::size_t width) {
    end = (end + width - 1) / width * width;
    std::memcpy(bytes.data() + end, &v, width);
    end += width;
  };
  const FlatGrid grid = kernel->grid(size);
  put(grid.tail_ctas, 4);
  put(grid.tail, 4);
  put(static_cast<std::uint64_t>(size), 4);
  for (const std::uint64_t a : s.addresses()) put(a, 8);
  put(to.address(), 8);
  for (const Number& n : s.numbers()) put(number_bits(n), 4 * registers_of(n.dtype));
  kernel->kernel->launch(static_cast<std::uint32_t>(grid.ctas), std::span(bytes).first(end));
  return true;
}

}  // namespace nervanagpu::fuse

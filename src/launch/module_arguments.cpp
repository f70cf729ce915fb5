#include "src/launch/module_arguments.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "src/numbers/half.h"

namespace nervanagpu {
namespace {

using sass::ParamType;

bool says_type(const sass::KernelImage& kernel) {
  return !kernel.manifest.name.empty();
}
bool is_float(ParamType t) {
  return t == ParamType::f16 || t == ParamType::f32 || t == ParamType::f64;
}
bool is_signed(ParamType t) {
  return t == ParamType::s8 || t == ParamType::s16 || t == ParamType::s32 || t == ParamType::s64;
}

// Writes one argument over the bytes of its parameter.
class Packer {
 public:
  Packer(const sass::KernelImage& kernel, std::size_t index, std::byte* to)
      : kernel_(kernel), param_(kernel.params[index]), index_(index), to_(to), bytes_(sass::size_of(param_.type)) {}

  // Whether the parameter takes a value of `kind`; a tensor map is bytes only.
  void refuse_map(const char* kind) const {
    if (param_.type == ParamType::map) refuse_type(kind);
  }

  void operator()(std::uint64_t v) const { integer(false, v, std::to_string(v)); }
  void operator()(std::int64_t v) const { integer(v < 0, static_cast<std::uint64_t>(v), std::to_string(v)); }
  void operator()(double v) const {
    if (says_type(kernel_) ? !is_float(param_.type) : bytes_ == 1) refuse_type("a float");
    number(v);
  }
  void operator()(const Tensor& t) const {
    const bool pointer = param_.type == ParamType::ptr || param_.type == ParamType::u64;
    if (!pointer) refuse_type("a tensor");
    store(t.address());
  }
  void operator()(const std::vector<std::byte>& raw) const {
    if (raw.size() != bytes_) {
      throw InvalidArgument(title() + " has " + std::to_string(bytes_) + " bytes; found " + std::to_string(raw.size()));
    }
    std::memcpy(to_, raw.data(), raw.size());
  }

 private:
  void integer(bool negative, std::uint64_t v, const std::string& text) const {
    refuse_map("an integer");
    if (says_type(kernel_) && is_float(param_.type)) {
      const double d = negative ? static_cast<double>(static_cast<std::int64_t>(v)) : static_cast<double>(v);
      return number(d);
    }
    const unsigned width = 8 * bytes_;
    const std::uint64_t ones = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    const std::uint64_t most = says_type(kernel_) && is_signed(param_.type) ? ones >> 1 : ones;
    const bool may_be_negative = !says_type(kernel_) || is_signed(param_.type);
    const bool fits = negative ? may_be_negative && ~v <= ones >> 1 : v <= most;
    if (!fits) {
      const std::string least = may_be_negative ? "-" + std::to_string((ones >> 1) + 1) : "0";
      throw InvalidArgument(title() + " is " + text + "; needs " + least + " to " + std::to_string(most));
    }
    store(v);
  }

  void number(double v) const {
    refuse_map("a float");
    if (bytes_ == 8) return store(std::bit_cast<std::uint64_t>(v));
    if (bytes_ == 4) {
      if (std::isfinite(v) && std::abs(v) > std::numeric_limits<float>::max()) too_large(v);
      return store(std::bit_cast<std::uint32_t>(static_cast<float>(v)));
    }
    if (std::isfinite(v) && std::abs(v) >= 65520) too_large(v);  // rounds to infinity
    store(half_bits(v));
  }
  [[noreturn]] void too_large(double v) const {
    throw InvalidArgument(title() + " is " + std::to_string(v) + ", which is too large for " +
                          type_text(kernel_, param_));
  }

  void store(std::uint64_t v) const { std::memcpy(to_, &v, bytes_); }

  [[nodiscard]] std::string title() const {
    return "kernel " + kernel_.name + ": argument " + std::to_string(index_) +
           (param_.name.empty() ? "" : " (" + param_.name + ")");
  }
  [[noreturn]] void refuse_type(const char* found) const {
    throw TypeError(title() + " is " + found + "; needs " + type_text(kernel_, param_));
  }

  const sass::KernelImage& kernel_;
  const sass::Param& param_;
  std::size_t index_;
  std::byte* to_;
  unsigned bytes_;
};

std::string signature(const sass::KernelImage& kernel) {
  std::string out;
  for (const sass::Param& p : kernel.params) {
    out += (out.empty() ? "" : ", ") + type_text(kernel, p) + (p.name.empty() ? "" : " " + p.name);
  }
  return "(" + out + ")";
}

}  // namespace

std::string type_text(const sass::KernelImage& kernel, const sass::Param& param) {
  if (says_type(kernel)) return std::string(sass::name_of(param.type));
  const unsigned bytes = sass::size_of(param.type);
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::vector<std::byte> pack_arguments(const sass::KernelImage& kernel, const std::vector<Argument>& args) {
  std::vector<std::byte> block(kernel.param_bytes);
  if (kernel.params.empty() && kernel.param_bytes != 0) {  // structures by value: the caller lays them out
    const auto* raw = args.size() == 1 ? std::get_if<std::vector<std::byte>>(&args.front().value) : nullptr;
    if (raw == nullptr || raw->size() != block.size()) {
      throw InvalidArgument("kernel " + kernel.name + " takes structures: give its whole parameter block as " +
                            std::to_string(block.size()) + " bytes");
    }
    return *raw;
  }
  if (args.size() != kernel.params.size()) {
    throw InvalidArgument("kernel " + kernel.name + " takes " + std::to_string(kernel.params.size()) + " arguments " +
                          signature(kernel) + ", found " + std::to_string(args.size()));
  }
  for (std::size_t i = 0; i < args.size(); ++i) {
    const sass::Param& p = kernel.params[i];
    if (std::size_t{p.offset} + sass::size_of(p.type) > block.size()) {
      throw Error("kernel " + kernel.name + ": parameter " + std::to_string(i) + " lies past the parameter block");
    }
    std::visit(Packer(kernel, i, block.data() + p.offset), args[i].value);
  }
  return block;
}

}  // namespace nervanagpu

#include "src/fuse/kernels/column_walk.h"

#include <algorithm>
#include <cstdlib>

#include "src/launch/magic.h"

namespace nervanagpu::fuse {
namespace {

bool side_by_side(const Axis& a) {
  return std::ranges::all_of(a.strides, [](std::int64_t s) { return s == 0 || s == 1; });
}

}  // namespace

bool is_across(const Program& p, const Layout& layout) {
  if (layout.axes.size() < 2 || std::ranges::any_of(p.tensors, counts)) return false;
  const Axis& inner = layout.axes[layout.axes.size() - 2];
  if (inner.length < 8 || !side_by_side(inner)) return false;
  bool across = false;  // a tensor that rows cross
  for (std::size_t k = 0; k < p.tensors.size(); ++k) {
    const std::int64_t along = layout.axes.back().strides[k];
    across = across || (inner.strides[k] == 1 && along != 0);
    if (inner.strides[k] == 0 && std::abs(along) == 1) return false;
  }
  if (!across) return false;
  for (std::size_t k = p.tensors.size(); k < inner.strides.size(); ++k) {
    if (inner.strides[k] != 1) return false;
  }
  return true;
}

bool is_row_leaf(const Program& p, std::size_t k) {
  return std::ranges::any_of(
      p.values, [&](const Value& v) { return v.op == ExprOp::tensor && v.leaf == static_cast<int>(k) && v.reduced; });
}

ColumnWalk column_walk(const Program& p, const Layout& layout, const std::vector<Dtype>& dtypes,
                       const std::vector<std::uint64_t>& address) {
  ColumnWalk f;
  const Axis& inner = layout.axes[layout.axes.size() - 2];
  f.rank = layout.axes.size() - 1;
  std::size_t widest = 1;
  for (std::size_t k = 0; k < dtypes.size(); ++k) {
    const bool output = k >= p.tensors.size();
    const bool constant = std::ranges::all_of(layout.axes, [&](const Axis& a) { return a.strides[k] == 0; });
    f.access.push_back(constant && !output ? Access::uniform : inner.strides[k] == 1 ? Access::dense : Access::splat);
    if (f.access.back() == Access::dense) widest = std::max(widest, size_of(dtypes[k]));
  }
  const auto fits = [&](unsigned lanes) {
    if (inner.length % lanes != 0) return false;
    for (std::size_t k = 0; k < dtypes.size(); ++k) {
      if (f.access[k] == Access::uniform) continue;
      const std::uint64_t size = size_of(dtypes[k]);
      const std::uint64_t bytes = f.access[k] == Access::dense ? std::min<std::uint64_t>(16, lanes * size) : size;
      if (address[k] % bytes != 0) return false;
      for (const Axis& a : layout.axes) {
        const bool itself = &a == &inner;
        if (!itself && static_cast<std::uint64_t>(std::abs(a.strides[k])) * size % bytes != 0) return false;
      }
    }
    return true;
  };
  f.lanes = std::max<unsigned>(1, static_cast<unsigned>(std::min<std::size_t>(8, 16 / widest)));
  while (f.lanes > 1 && !fits(f.lanes)) f.lanes /= 2;
  return f;
}

void append_key(std::string& key, const ColumnWalk& f, const std::vector<Dtype>& dtypes) {
  key.push_back(static_cast<char>(f.lanes));
  key.push_back(static_cast<char>(f.rank));
  for (std::size_t k = 0; k < f.access.size(); ++k) {
    key.push_back(static_cast<char>(f.access[k]));
    key.push_back(static_cast<char>(dtypes[k]));
  }
}

Parameters column_parameters(const Program& p, const Layout& layout, const ColumnWalk& f,
                             const std::vector<Dtype>& dtypes, const std::vector<std::uint64_t>& address) {
  const std::int64_t length = layout.axes.back().length;
  Parameters params;
  params.u32(layout.size() / length / f.lanes).u32(length);
  const auto per_item = [&](std::size_t d) { return d + 2 == layout.axes.size() ? std::int64_t{f.lanes} : 1; };
  for (std::size_t d = layout.axes.size() - 1; d-- > 1;) {
    const std::int64_t n = layout.axes[d].length / per_item(d);
    const Magic m = magic(static_cast<std::uint32_t>(n));
    params.u32(-n).u32(m.mul).u32(m.shift);
  }
  for (std::size_t k = 0; k < f.access.size(); ++k) {
    if (f.access[k] == Access::uniform) continue;
    for (std::size_t d = layout.axes.size() - 1; d-- > 0;) params.u32(layout.axes[d].strides[k] * per_item(d));
    params.u32(layout.axes.back().strides[k] * static_cast<std::int64_t>(size_of(dtypes[k])));
  }
  params.operands(p, address);
  return params;
}

ColumnInputs declare_columns(Builder& b, const Program& p, const ColumnWalk& f) {
  ColumnInputs in;
  in.count = b.param("count", sass::ParamType::u32);
  in.length = b.param("length", sass::ParamType::u32);
  in.division = declare_divisions(b, f.rank - 1);
  in.strides.resize(f.access.size());
  in.walk.resize(f.access.size());
  for (std::size_t k = 0; k < f.access.size(); ++k) {
    if (f.access[k] == Access::uniform) continue;
    in.strides[k] = declare_strides(b, k, f.rank);
    in.walk[k] = b.param("walk" + std::to_string(k), sass::ParamType::u32);
  }
  in.operands = declare_operands(b, p, f.access);
  return in;
}

std::vector<VReg> column_addresses(Builder& b, const ColumnInputs& in, VReg i) {
  const std::vector<VReg> x = coordinates(b, in.division, i);
  std::vector<VReg> address(in.operands.size());
  for (std::size_t k = 0; k < in.operands.size(); ++k) {
    if (in.operands[k].access == Access::uniform) continue;
    const VReg offset = offset_of(b, x, in.strides[k]);
    const VReg size = b.reg();
    b.emit(Op::MOV, {}, {size, static_cast<std::int64_t>(size_of(in.operands[k].dtype))});
    address[k] = b.reg(2);
    b.emit(Op::IMAD_WIDE, {}, {address[k], offset, size, in.operands[k].pointer});
  }
  return address;
}

}  // namespace nervanagpu::fuse

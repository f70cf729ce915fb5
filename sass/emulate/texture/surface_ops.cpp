// SULD, SUST, SURED: surfaces by handle. The first coordinate counts bytes (.BA, and all of .D) or texels.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/memory/arena.h"
#include "sass/emulate/ops/memory/memory_forms.h"
#include "sass/emulate/texture/families.h"
#include "sass/emulate/texture/texture_ops.h"
#include "sass/emulate/uop/words.h"
#include "sass/half.h"
#include "sass/isa/rows/row.h"

namespace nervanagpu::sass::emulate {
namespace {

enum Outside : std::uint8_t { kIgnore, kClamp, kTrap };

// Where a lane's access goes.
struct Spot {
  std::byte* at = nullptr;
  bool outside = false;  // nothing is done, a load gives zeros
  bool refused = false;
};

bool layered(ImageKind kind) {
  return kind == ImageKind::k1DArray || kind == ImageKind::k2DArray || kind == ImageKind::kCube ||
         kind == ImageKind::kCubeArray;
}

// The row that y, z and a layer name, and whether they are inside; with kClamp the nearest.
bool inside(std::int64_t& v, std::uint32_t size, Outside outside) {
  if (v >= 0 && v < size) return true;
  v = std::clamp<std::int64_t>(v, 0, std::int64_t{size} - 1);
  return outside == kClamp;
}

Spot spot(Warp& w, const Uop* u, unsigned lane, const TextureObject& object, unsigned bytes) {
  const Detail& x = *u->x;
  const TextureOp& t = x.texture;
  const Image& image = object.image;
  const auto outside = static_cast<Outside>(t.outside);
  const auto coordinate = [&](unsigned i) {
    return std::int64_t{static_cast<std::int32_t>(w.row(static_cast<std::uint16_t>(t.at + i))[lane])};
  };
  const unsigned n = dimensions(image.kind);
  std::int64_t column = coordinate(0);
  std::int64_t y = n > 1 ? coordinate(1) : 0;
  std::int64_t z = n > 2 ? coordinate(2) : 0;
  std::int64_t layer = layered(image.kind) ? coordinate(n) & 0xffff : 0;
  Spot s;
  const std::int64_t scale = x.flag ? 1 : image.texel_bytes();  // x.flag: in bytes
  const std::int64_t row = std::int64_t{image.width} * image.texel_bytes();
  std::int64_t at = column * scale;
  if (at % bytes != 0) {
    s.refused = true;
    if (!refuse_access(
            w, u, lane, "misaligned",
            std::to_string(bytes) + "-byte access of a surface at byte " + std::to_string(at) + " of a row")) {
      return s;
    }
    return s;
  }
  bool good = at >= 0 && at + bytes <= row;
  if (!good && outside == kClamp) {
    at = std::clamp<std::int64_t>(at, 0, row - bytes);
    good = true;
  }
  good = inside(y, image.height, outside) && good;
  good = inside(z, image.depth, outside) && good;
  good = inside(layer, image.layers, outside) && good;
  if (!good) {
    s.outside = true;
    if (outside == kTrap) {
      s.refused = true;
      refuse_access(w, u, lane, "out of bounds",
                    std::to_string(bytes) + "-byte access of a surface at byte " + std::to_string(column * scale) +
                        " of row " + std::to_string(n > 1 ? coordinate(1) : 0) + "; it has " + std::to_string(row) +
                        " bytes in each of " + std::to_string(image.height) + " rows");
    }
    return s;
  }
  const std::uint64_t line =
      (static_cast<std::uint64_t>(layer) * image.depth + static_cast<std::uint64_t>(z)) * image.height +
      static_cast<std::uint64_t>(y);
  s.at = w.memory->touch(image.address + line * image.row_bytes() + static_cast<std::uint64_t>(at), bytes);
  if (s.at == nullptr) {
    s.refused = true;
    refuse_access(w, u, lane, "out of bounds", "the memory of the surface's image is not there any more");
  }
  return s;
}

// For each lane that executes: access(lane, spot), which is not called where nothing is to be done.
template <class F>
const Uop* each(Warp& w, const Uop* u, F access) {
  const auto object = object_of(w, u, w.ureg[u->x->texture.handle], kLanes, true);
  if (object == nullptr) return w.checker == nullptr ? nullptr : u + 1;
  const unsigned bytes = u->x->kind == 0 ? u->x->bytes : object->image.texel_bytes();
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((w.exec >> l & 1) == 0) continue;
    const Spot s = spot(w, u, l, *object, bytes);
    if (s.refused && w.checker == nullptr) return nullptr;
    access(l, s, object->image);
  }
  return u + 1;
}

const Uop* load_bytes(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  return each(w, u, [&](unsigned l, const Spot& s, const Image&) {
    std::array<u32, 4> v{};
    if (s.refused) v.fill(kPoison);
    if (s.at != nullptr) std::memcpy(v.data(), s.at, x.bytes);
    if (x.is_signed) {
      const unsigned unused = 32u - 8u * x.bytes;
      v[0] = static_cast<u32>(static_cast<std::int32_t>(v[0] << unused) >> unused);
    }
    const unsigned parts = std::max(x.bytes / 4u, 1u);
    for (unsigned i = 0; i < parts; ++i) w.row(static_cast<std::uint16_t>(x.dst + i))[l] = v[i];
  });
}

const Uop* store_bytes(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  return each(w, u, [&](unsigned l, const Spot& s, const Image&) {
    if (s.at == nullptr) return;
    std::array<u32, 4> v{};
    const unsigned parts = std::max(x.bytes / 4u, 1u);
    for (unsigned i = 0; i < parts; ++i) v[i] = w.row(static_cast<std::uint16_t>(x.texture.data + i))[l];
    std::memcpy(s.at, v.data(), x.bytes);
  });
}

// A component as the image has it: integers saturate, floats are rounded towards zero.
u32 packed(TexelType type, u32 v) {
  const auto s = static_cast<std::int32_t>(v);
  switch (type) {
    case TexelType::kU8: return std::min(v, 0xffu);
    case TexelType::kU16: return std::min(v, 0xffffu);
    case TexelType::kS8: return static_cast<u32>(std::clamp(s, -128, 127));
    case TexelType::kS16: return static_cast<u32>(std::clamp(s, -32768, 32767));
    case TexelType::kF16: return to_half(std::bit_cast<float>(v), kZeroward);
    default: return v;
  }
}

const Uop* store_formatted(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  return each(w, u, [&](unsigned l, const Spot& s, const Image& image) {
    if (s.at == nullptr) return;
    const unsigned width = bytes_of(image.type);
    for (unsigned i = 0; i < image.channels; ++i) {
      const u32 given = i < x.imm ? w.row(static_cast<std::uint16_t>(x.texture.data + i))[l] : 0;
      const u32 v = packed(image.type, given);
      std::memcpy(s.at + std::size_t{i} * width, &v, width);
    }
  });
}

const Uop* reduce_surface(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  return each(w, u, [&](unsigned l, const Spot& s, const Image&) {
    if (s.at == nullptr) return;
    std::uint64_t v = w.row(x.texture.data)[l];
    if (x.bytes == 8) v |= std::uint64_t{w.row(static_cast<std::uint16_t>(x.texture.data + 1))[l]} << 32;
    Detail as = x;
    as.kind = static_cast<std::uint8_t>(x.imm2);
    reduce(as, s.at, v);
  });
}

ImageKind geometry_of(Tok geometry) {
  switch (geometry) {
    case Tok::k1D: return ImageKind::k1D;
    case Tok::k1D_BUFFER: return ImageKind::kBuffer;
    case Tok::k1D_ARRAY: return ImageKind::k1DArray;
    case Tok::k2D_ARRAY: return ImageKind::k2DArray;
    case Tok::k3D: return ImageKind::k3D;
    default: return ImageKind::k2D;
  }
}

void bind_reduce(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  const Tok type = inst.mod(Axis::kType);
  bind_reduction(inst, b);
  x.imm2 = x.kind;
  x.bytes = type == Tok::U64 || type == Tok::S64 ? 8 : 4;
  if (type != Tok::kNone && type != Tok::S32 && type != Tok::U64) {
    b.refuse("a reduction of ." + std::string(tok_text(type)) + " in a surface");
  }
  x.body = reduce_surface;
}

}  // namespace

bool bind_surface(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  TextureOp& t = x.texture;
  if (inst.op != Op::SULD && inst.op != Op::SUST && inst.op != Op::SURED) return false;
  bind_handle(inst, b);
  const bool formatted = inst.has(Axis::kMode, Tok::P);
  t.geometry = static_cast<std::uint8_t>(geometry_of(inst.mod(Axis::kGeometry)));
  t.outside = inst.has(Axis::kOutside, Tok::IGN) ? kIgnore : inst.has(Axis::kOutside, Tok::TRAP) ? kTrap : kClamp;
  for (const Operand& o : inst.operands()) {
    if (o.kind == OperandKind::kAddr) t.at = rows::use(o.reg);
    if (o.kind == OperandKind::kGpr && o.role != Role::kDef) t.data = rows::use(o.reg);
  }
  if (inst.op == Op::SURED) {
    bind_reduce(inst, b);
    x.flag = inst.has(Axis::kMode2, Tok::BA);
    x.kind = 0;
    return true;
  }
  x.flag = inst.has(Axis::kMode2, Tok::BA);
  if (formatted) {
    if (inst.op == Op::SULD) b.refuse("a formatted load");
    const Tok which = inst.mod(Axis::kType);
    x.imm = which == Tok::R ? 1 : which == Tok::RG ? 2 : 4;
    x.kind = 1;
    x.body = store_formatted;
    return true;
  }
  bind_size(inst, b);
  x.kind = 0;
  x.body = inst.op == Op::SULD ? load_bytes : store_bytes;
  return true;
}

}  // namespace nervanagpu::sass::emulate

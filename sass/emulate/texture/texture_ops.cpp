// TEX, TLD, TLD4, TXD, TXQ: textures by handle. There are no mipmaps here, so levels of detail and slopes change nothing.
#include "sass/emulate/texture/texture_ops.h"
#include "sass/emulate/texture/families.h"

#include <bit>
#include <cstdint>
#include <cstdio>

#include "sass/emulate/checked/check.h"
#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/state/grid.h"
#include "sass/emulate/texture/texture_read.h"
#include "sass/emulate/uop/words.h"
#include "sass/isa/codec/hex.h"
#include "sass/isa/rows/row.h"

namespace nervanagpu::sass::emulate {
namespace {

enum Fetch : std::uint8_t { kSample, kLoad, kLoadClamped, kGather };

bool has_layer(ImageKind kind) {
  return kind == ImageKind::k1DArray || kind == ImageKind::k2DArray || kind == ImageKind::kCubeArray;
}

// Components go to the first two registers, then to the other two, without gaps.
void put(Warp& w, const TextureOp& t, unsigned lane, const Texel& texel) {
  unsigned k = 0;
  for (unsigned c = 0; c < 4; ++c) {
    if ((t.mask >> c & 1) == 0) continue;
    const auto row = static_cast<std::uint16_t>(k < 2 ? t.low + k : t.high + (k - 2));
    w.row(row)[lane] = texel[c];
    ++k;
  }
}

// Lanes that fetch from one object, and their results; false ends the grid.
using Fetching = bool (*)(Warp& w, const Uop* u, const TextureObject& object, u32 lanes);

template <Fetching kFetching>
const Uop* by_object(Warp& w, const Uop* u) {
  const TextureOp& t = u->x->texture;
  const bool own = t.handles != TextureOp::kNoRow;
  for (u32 left = w.exec; left != 0;) {
    const auto first = static_cast<unsigned>(std::countr_zero(left));
    const std::uint64_t handle = own ? w.row(t.handles)[first] : w.ureg[t.handle];
    u32 lanes = left;
    for (unsigned l = first; own && l < kLanes; ++l) {
      if (w.row(t.handles)[l] != handle) lanes &= ~(1u << l);
    }
    left &= ~lanes;
    const auto object = object_of(w, u, handle, own ? first : kLanes, false);
    if (object != nullptr) {
      if (!kFetching(w, u, *object, lanes)) return nullptr;
      continue;
    }
    if (w.checker == nullptr) return nullptr;
    for (unsigned l = 0; l < kLanes; ++l) {
      if ((lanes >> l & 1) != 0) put(w, t, l, {kPoison, kPoison, kPoison, kPoison});
    }
  }
  return u + 1;
}

bool fetch(Warp& w, const Uop* u, const TextureObject& object, u32 lanes) {
  const Detail& x = *u->x;
  const TextureOp& t = x.texture;
  const TextureReader reader(object, *w.memory);
  const auto kind = static_cast<ImageKind>(t.geometry);
  const unsigned first = has_layer(kind) ? 1 : 0;
  const bool cube = kind == ImageKind::kCube || kind == ImageKind::kCubeArray;
  const unsigned count = cube ? 3 : dimensions(kind);
  const ConstRow lod = w.row(t.extra);
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((lanes >> l & 1) == 0) continue;
    std::array<u32, 3> at{};
    for (unsigned i = 0; i < count; ++i) at[i] = w.row(static_cast<std::uint16_t>(t.at + first + i))[l];
    const u32 layer = first != 0 ? w.row(t.at)[l] & 0xffff : 0;
    Texel texel{};
    bool there = true;
    if (x.kind == kLoad || x.kind == kLoadClamped) {
      const std::array<std::int32_t, 3> n = {static_cast<std::int32_t>(at[0]), static_cast<std::int32_t>(at[1]),
                                             static_cast<std::int32_t>(at[2])};
      // There is level 0 and no other.
      if (!x.flag || lod[l] == 0) there = reader.load(n, layer, x.kind == kLoadClamped, texel);
    } else {
      const std::array<float, 3> f = {std::bit_cast<float>(at[0]), std::bit_cast<float>(at[1]),
                                      std::bit_cast<float>(at[2])};
      there = x.kind == kGather ? reader.gather(f, t.component, texel) : reader.sample(f, layer, texel);
    }
    if (!there) {
      if (!refuse_access(w, u, l, "out of bounds", "the memory of the texture's image is not there any more"))
        return false;
      texel.fill(kPoison);
    }
    put(w, t, l, texel);
  }
  return true;
}

bool query(Warp& w, const Uop* u, const TextureObject& object, u32 lanes) {
  const TextureOp& t = u->x->texture;
  const Image& image = object.image;
  const ConstRow level = w.row(t.at);
  Texel size = {image.width, image.height, image.depth, 0};
  if (dimensions(image.kind) == 2) size[2] = has_layer(image.kind) ? image.layers : 0;
  if (image.kind == ImageKind::kCubeArray) size[2] = image.layers / 6;
  if (image.kind == ImageKind::k1DArray) size = {image.width, image.layers, 0, 0};
  if (image.kind == ImageKind::k1D) size = {image.width, 1, 0, 0};
  if (image.kind == ImageKind::kBuffer) size = {image.width, 0, 0, 0};
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((lanes >> l & 1) == 0) continue;
    if (level[l] != 0 && !refuse_access(w, u, l, "out of bounds",
                                        "level " + std::to_string(level[l]) + " of a texture that has one level"))
      return false;
    put(w, t, l, size);
  }
  return true;
}

ImageKind geometry_of(Tok geometry, bool load) {
  switch (geometry) {
    case Tok::k1D: return load ? ImageKind::kBuffer : ImageKind::k1D;
    case Tok::k3D: return ImageKind::k3D;
    case Tok::CUBE: return ImageKind::kCube;
    case Tok::ARRAY_1D: return ImageKind::k1DArray;
    case Tok::ARRAY_2D: return ImageKind::k2DArray;
    case Tok::ARRAY_CUBE: return ImageKind::kCubeArray;
    default: return ImageKind::k2D;
  }
}

void refuse_modifiers(const Inst& inst, Binding& b) {
  for (const auto& [axis, tok] :
       {std::pair{Axis::kPack, Tok::SCR}, std::pair{Axis::kDstType, Tok::F16_RN},
        std::pair{Axis::kDstType, Tok::F16_RZ}, std::pair{Axis::kOffsets, Tok::AOFFI},
        std::pair{Axis::kOffsets, Tok::PTP}, std::pair{Axis::kDepth, Tok::DC}, std::pair{Axis::kDepth, Tok::MS},
        std::pair{Axis::kLod, Tok::LC}, std::pair{Axis::kLod, Tok::LB_LC}, std::pair{Axis::kLod, Tok::LC_FDV}}) {
    if (inst.has(axis, tok)) b.refuse("a texture fetch with ." + std::string(tok_text(tok)));
  }
}

}  // namespace

std::shared_ptr<const TextureObject> object_of(Warp& w, const Uop* u, std::uint64_t handle, unsigned lane,
                                               bool surface) {
  const TextureOp& t = u->x->texture;
  bool made = false;
  auto object = w.memory->textures.find(handle, &made);
  const char* what = surface ? "no such surface" : "no such texture";
  if (object == nullptr) {
    refuse_access(w, u, lane, what, hex(handle) + (made ? " has been destroyed" : " is no handle"));
    return nullptr;
  }
  const ImageKind kind = object->image.kind;
  const auto wanted = static_cast<ImageKind>(t.geometry);
  if (object->surface != surface) {
    refuse_access(w, u, lane, what, hex(handle) + (surface ? " is a texture" : " is a surface"));
    return nullptr;
  }
  // TXQ takes any; tex.1d has become 2D, the second coordinate without a meaning; the faces of a cube are layers to a surface.
  bool fits = kind == wanted || (!surface && u->x->body == by_object<query>);
  fits = fits || (!surface && kind == ImageKind::k1D && wanted == ImageKind::k2D);
  fits =
      fits || (surface && wanted == ImageKind::k2DArray && (kind == ImageKind::kCube || kind == ImageKind::kCubeArray));
  if (!fits) {
    refuse_access(w, u, lane, what,
                  hex(handle) + " is a " + std::string(name_of(kind)) + (surface ? " surface" : " texture") +
                      ", the instruction takes a " + std::string(name_of(wanted)) + " one");
    return nullptr;
  }
  return object;
}

bool refuse_access(Warp& w, const Uop* u, unsigned lane, const char* what, const std::string& detail) {
  if (w.checker != nullptr) {
    w.checker->found(w, u, lane == kLanes ? static_cast<unsigned>(std::countr_zero(w.exec)) : lane, what, detail);
    return true;
  }
  fault(w, u, lane, std::string(what) + ": " + detail);
  return false;
}

bool bind_handle(const Inst& inst, Binding& b) {
  TextureOp& t = b.detail.texture;
  bool found = false;
  for (std::size_t i = 0; i < inst.operand_count; ++i) {
    const Operand& o = inst.operand_array[i];
    if (o.kind != OperandKind::kUGpr) continue;
    t.handle = o.reg;
    found = true;
    if (i + 1 < inst.operand_count && inst.operand_array[i + 1].imm != 0) b.refuse("an offset of a texture's handle");
  }
  found = found || inst.has(Axis::kMode2, Tok::B);
  if (!found) b.refuse("a texture that the driver has bound");
  for (unsigned i = 0; i < b.detail.pdst_count; ++i) {
    if (b.detail.pdst[i] != preds::kDump) b.refuse("a predicate result");
  }
  return found;
}

bool bind_texture(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  TextureOp& t = x.texture;
  switch (inst.op) {
    case Op::TEX:
    case Op::TXD:
    case Op::TLD4:
    case Op::TLD:
    case Op::TXQ: break;
    default: return false;
  }
  bind_handle(inst, b);
  refuse_modifiers(inst, b);
  // High results, low results, coordinates, extra, in this order.
  std::array<std::uint16_t*, 4> next = {&t.high, &t.low, &t.at, &t.extra};
  std::size_t n = 0;
  for (std::size_t i = 0; i < inst.operand_count; ++i) {
    const Operand& o = inst.operand_array[i];
    if (o.kind == OperandKind::kGpr && n < next.size()) {
      *next[n] = o.role == Role::kDef ? rows::def(o.reg) : rows::use(o.reg);
      ++n;
    }
    if (inst.row->slot_array[i].type == SlotType::kToken) {
      if (inst.op == Op::TXQ && o.sub != Tok::TEX_HEADER_DIMENSION) b.refuse("query " + std::string(tok_text(o.sub)));
      t.geometry = static_cast<std::uint8_t>(geometry_of(o.sub, inst.op == Op::TLD));
    }
  }
  if (inst.has(Axis::kMode2, Tok::B)) {
    std::uint16_t& first = inst.op == Op::TXD || inst.op == Op::TXQ ? t.at : t.extra;
    t.handles = first++;
  }
  t.mask = static_cast<std::uint8_t>(inst.operand_array[inst.operand_count - 1U].imm & 15);
  x.body = by_object<fetch>;
  x.kind = kSample;
  if (inst.op == Op::TLD) {
    x.kind = inst.has(Axis::kDivergent, Tok::CL) ? kLoadClamped : kLoad;
    x.flag = inst.has(Axis::kLod, Tok::LL);
  }
  if (inst.op == Op::TLD4) {
    x.kind = kGather;
    const Tok c = inst.mod(Axis::kMode);
    t.component = c == Tok::G ? 1 : c == Tok::B ? 2 : c == Tok::A ? 3 : 0;
    if (static_cast<ImageKind>(t.geometry) != ImageKind::k2D) b.refuse("a gather from layers or a cube");
  }
  if (inst.op == Op::TXQ) {
    if ((t.mask & 8) != 0) b.refuse("the number of a texture's levels");
    x.body = by_object<query>;
  }
  return true;
}

}  // namespace nervanagpu::sass::emulate

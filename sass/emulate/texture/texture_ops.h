// What texture and surface instructions have in common.
#pragma once

#include <memory>
#include <string>

#include "sass/emulate/memory/texture.h"
#include "sass/emulate/state/warp.h"
#include "sass/emulate/uop/binding.h"

namespace nervanagpu::sass::emulate {

// The object that `handle` stands for, if it is of the instruction's kind. null: a finding was noted for `lane`, kLanes
// being all, or the grid has faulted.
std::shared_ptr<const TextureObject> object_of(Warp& w, const Uop* u, std::uint64_t handle, unsigned lane,
                                               bool surface);

// A finding in checked mode, else the end of the grid; says whether the warp goes on.
bool refuse_access(Warp& w, const Uop* u, unsigned lane, const char* what, const std::string& detail);

// From operands: the handle's uniform register, and that its offset is 0. Returns false if the handle is a constant.
bool bind_handle(const Inst& inst, Binding& b);

}  // namespace nervanagpu::sass::emulate

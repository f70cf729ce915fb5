// Checked mode, HGMMA and its kin: accumulators and A registers belong to the instruction from its issue until its group
// was awaited (WARPGROUP.DEPBAR), and what it reads in shared memory stays as it is. Only the next one of the same kind may
// add to the same accumulators. WARPGROUP.ARRIVE comes between the last ordinary write of its registers and the instruction.
#include <algorithm>

#include "sass/emulate/checked/check.h"
#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/state/grid.h"

namespace nervanagpu::sass::emulate {
bool Checker::owned(const WarpState& s, std::uint16_t tag) {
  return tag < tags::kUGpr && std::max(s.tensor.writes[tag], s.tensor.reads[tag]) > s.tensor.done;
}

// A register that an HGMMA in flight owns: is this use, or this write, one of the allowed?
void Checker::check_owned(WarpState& s, Warp& w, const Uop* u, const CheckOp& op) {
  const auto complain = [&](std::uint16_t tag, const char* what, const char* verb) {
    if (again(u, what, w)) return;
    const std::uint32_t pc = s.tag[tag].tensor_pc;
    found(w, u, 0, what,
          tags::name(tag) + verb + named(*grid_.kernel, pc) + ", which WARPGROUP.DEPBAR has not awaited");
  };
  const auto accumulates = [&](std::uint16_t tag) {
    return op.tensor == CheckOp::Tensor::kMultiply &&
           std::any_of(op.defs.begin(), op.defs.end(), [&](const CheckOp::Def& d) { return d.tag == tag; });
  };
  for (const CheckOp::Use& use : op.uses) {
    if (use.tag >= tags::kUGpr || s.tensor.writes[use.tag] <= s.tensor.done || accumulates(use.tag)) continue;
    complain(use.tag, "read before ready", " is still to be written by ");
    poison(w, use.tag);
  }
  for (const CheckOp::Def& def : op.defs) {
    if (!owned(s, def.tag)) continue;
    const bool read_only = s.tensor.writes[def.tag] <= s.tensor.done;
    if (!read_only && op.tensor == CheckOp::Tensor::kMultiply) continue;
    complain(def.tag, "overwritten in flight", " belongs to ");
  }
}

// Its result was not there at the last WARPGROUP.ARRIVE.
bool Checker::comes_late(const WarpState& s, std::uint16_t tag) {
  const Tag& t = s.tag[tag];
  const bool queued = t.queue != Queue::kNone;
  if (queued && s.tensor.in_order[static_cast<std::size_t>(t.queue)] >= s.in_queue[tag]) return false;
  return t.sb != kNoScoreboard ? s.tensor.awaited[t.sb] < t.number : queued;
}

void Checker::check_arrived(WarpState& s, Warp& w, const Uop* u, const CheckOp& op) {
  for (const CheckOp::Use& use : op.uses) {
    if (use.tag >= tags::kUGpr || s.tensor.writes[use.tag] != 0) continue;
    const Tag& t = s.tag[use.tag];
    if (t.lanes == 0) continue;
    const bool before = s.tensor.arrived != 0 && t.issued < s.tensor.arrived;
    const bool late = before && comes_late(s, use.tag);
    if (before && !late) continue;
    if (again(u, "no WARPGROUP.ARRIVE", w)) return;
    found(w, u, 0, "no WARPGROUP.ARRIVE",
          tags::name(use.tag) + " was written by " + named(*grid_.kernel, t.pc) +
              (late ? ", whose scoreboard was not awaited by WARPGROUP.ARRIVE" : " with no WARPGROUP.ARRIVE after it"));
    return;
  }
}

void Checker::issue_tensor(WarpState& s, Warp& w, const Uop* u, const CheckOp& op) {
  TensorState& t = s.tensor;
  switch (op.tensor) {
    case CheckOp::Tensor::kMultiply: {
      const std::uint32_t number = ++t.issued;
      for (const CheckOp::Use& use : op.uses) {
        if (use.tag >= tags::kUGpr) continue;
        t.reads[use.tag] = number;
        s.tag[use.tag].tensor_pc = static_cast<std::uint32_t>(u - w.code);
        s.tag[use.tag].readers |= kTensorReader;  // the quick path must not overwrite it
      }
      for (const CheckOp::Def& def : op.defs) {
        Tag& tag = s.tag[def.tag];
        t.writes[def.tag] = number;
        tag.tensor_pc = static_cast<std::uint32_t>(u - w.code);
        tag.settled = kNever;
        tag.sb = kNoScoreboard;
        tag.queue = Queue::kNone;
      }
      if (op.commits) {
        t.groups.push_back(number);
        t.closed = s.clock + 1;
      }
      break;
    }
    case CheckOp::Tensor::kArrive:
      t.arrived = s.clock + 1;
      t.awaited = s.done;
      t.in_order = s.queue_done;
      break;
    case CheckOp::Tensor::kWait:
      if (t.closed != 0 && s.clock + 1 - t.closed < kGroupGap && !again(u, "WARPGROUP.DEPBAR too soon", w)) {
        found(w, u, 0, "WARPGROUP.DEPBAR too soon",
              "it comes " + std::to_string(s.clock + 1 - t.closed) +
                  " cycles after the product that closes its group; at least " + std::to_string(kGroupGap) +
                  " are needed");
      }
      if (t.groups.size() > op.wait_groups) {
        t.done = std::max(t.done, t.groups[t.groups.size() - 1 - op.wait_groups]);
        marks_.awaited(strand(w), t.done);
      }
      break;
    case CheckOp::Tensor::kNone: break;
  }
}

void Checker::tensor_read(Warp& w, const Uop* u, std::uint32_t offset) {
  engine_read(w, u, offset, 16);
  marks_.read(w.index, state_[w.index].tensor.issued + 1, static_cast<std::uint32_t>(u - w.code), offset);
}

void Checker::check_products(Warp& w, const Uop* u, unsigned lane, std::uint32_t offset, unsigned bytes) {
  const auto conflict = marks_.write(strand(w), offset, bytes);
  if (!conflict || again(u, "shared memory in use by HGMMA", w)) return;
  found(w, u, lane, "shared memory in use by HGMMA",
        "shared offset " + std::to_string(offset) + " is read by " + named(*grid_.kernel, conflict->pc) + " of warp " +
            std::to_string(conflict->warp) +
            (conflict->awaited ? ", and nothing orders this write after its WARPGROUP.DEPBAR"
                               : ", which WARPGROUP.DEPBAR has not awaited"));
}

}  // namespace nervanagpu::sass::emulate

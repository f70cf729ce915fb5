// A cache of plans: a call of the same form as one before searches and packs nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "src/launch/planned_alignment.h"
#include "src/launch/planned_launches.h"
#include "src/memo.h"

namespace nervanagpu {

// Of a form's `alignments`, in the order of PlannedLaunches' operands: 0 where there is no operand, 1 also for numbers that are
// added to.
constexpr std::uint64_t form_alignment(std::uint64_t address) {
  return address == 0 ? 0 : planned_alignment(address);
}

// Form: a call without what its operands are; it tells their `alignments`. Found, or made of what `queue` queues in the default
// stream for operands, 0 for those that are not there. nullptr, also found again: it cannot be planned. Thread-safe.
template <class Form, class Hash>
std::shared_ptr<const PlannedLaunches> cached_plan(Device& device, const Form& form,
                                                   const std::function<void(std::span<const std::uint64_t>)>& queue) {
  constexpr std::size_t kMost = 1024;
  static auto& all = *new Memo<Form, std::shared_ptr<const PlannedLaunches>, Hash, kMost>;
  const auto call = [&](std::span<const std::uint64_t> at) {
    auto given = form.alignments;
    std::ranges::transform(at, form.alignments, given.begin(),
                           [](std::uint64_t address, std::uint64_t alignment) { return alignment == 0 ? 0 : address; });
    queue(given);
  };
  return all.get(form, [&]() -> std::shared_ptr<const PlannedLaunches> {
    auto alignments = form.alignments;
    std::ranges::replace(alignments, 0, 1);
    try {
      return std::make_shared<const PlannedLaunches>(device, alignments, call);
    } catch (const CannotBePlanned&) {
      return nullptr;
    }
  });
}

}  // namespace nervanagpu

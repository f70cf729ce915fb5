#include "src/launch/planned_launches.h"

#include <array>
#include <cstring>
#include <optional>

#include "nervanagpu/error.hpp"
#include "src/launch/arguments.h"

namespace nervanagpu {
namespace {

// Far enough from each other for any tensor, moved by distances that tell them apart.
std::uint64_t first_base(std::size_t operand, std::uint64_t alignment) {
  return ((std::uint64_t{2} * operand + 2) << 41) + alignment;
}
std::uint64_t second_base(std::size_t operand, std::uint64_t alignment) {
  return first_base(operand, 3 * alignment) + ((std::uint64_t{operand} + 1) << 33);
}

std::uint64_t word(std::span<const std::byte> block, std::size_t offset) {
  std::uint64_t out = 0;
  std::memcpy(&out, block.data() + offset, sizeof out);
  return out;
}

[[noreturn]] void refuse(const std::string& what) {
  throw CannotBePlanned("this call cannot be planned: " + what + " depends on more than the alignment of its operands");
}

}  // namespace

// Of two recordings.
class PlannedLaunches::Reader {
 public:
  Reader(std::span<const std::uint64_t> alignments, const Call& call) : used(alignments.size()) {
    for (std::size_t i = 0; i < alignments.size(); ++i) {
      bases_[0].push_back(first_base(i, alignments[i]));
      bases_[1].push_back(second_base(i, alignments[i]));
    }
    for (std::size_t i = 0; i < 2; ++i) {
      const LaunchTape::Recording recording(&tapes_[i]);
      call(bases_[i]);
    }
  }

  std::vector<Step> steps() {
    const auto& one = tapes_[0].steps();
    const auto& other = tapes_[1].steps();
    if (one.size() != other.size()) refuse("the number of launches");
    std::vector<Step> out;
    for (std::size_t i = 0; i < one.size(); ++i) {
      if (one[i].index() != other[i].index()) refuse("the order of launches");
      out.push_back(std::visit(
          [&](const auto& step) -> Step { return read(step, std::get<std::decay_t<decltype(step)>>(other[i])); },
          one[i]));
    }
    return out;
  }

  std::vector<bool> used;

 private:
  // A value in both recordings.
  std::optional<Place> place(std::uint64_t one, std::uint64_t other) {
    if (one == other) return Place{kFixed, one};
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (other - one != bases_[1][i] - bases_[0][i]) continue;
      used[i] = true;
      return Place{i, one - bases_[0][i]};
    }
    return std::nullopt;
  }
  Place address(const char* what, std::uint64_t one, std::uint64_t other) {
    const auto found = place(one, other);
    if (!found) refuse(what);
    return *found;
  }

  Fill read(const LaunchTape::Fill& one, const LaunchTape::Fill& other) {
    if (one.value != other.value || one.width != other.width || one.count != other.count) refuse("a fill");
    return {address("where a fill begins", one.to, other.to), one};
  }

  Copy read(const LaunchTape::Copy& one, const LaunchTape::Copy& other) {
    if (one.bytes != other.bytes) refuse("a copy");
    return {address("where a copy goes", one.to, other.to), address("what is copied", one.from, other.from), one.bytes};
  }

  Launch read(const LaunchTape::Launch& one, const LaunchTape::Launch& other) {
    const Kernel& kernel = one.what.kernel();
    const Grid& grid = one.what.grid();
    if (&kernel != &other.what.kernel() || grid != other.what.grid() || one.block.size() != other.block.size()) {
      refuse("the choice of " + kernel.name());
    }
    Launch out{one.what, one.block, {}, {}};
    for (const sass::Param& p : kernel.manifest().params) {
      if (p.type == sass::ParamType::map) {
        out.maps.push_back(map(p, one, other));
      } else if (const std::size_t bytes = sass::size_of(p.type); bytes == sizeof(std::uint64_t)) {
        const auto found = place(word(one.block, p.offset), word(other.block, p.offset));
        if (!found) refuse("parameter " + p.name + " of " + kernel.name());
        if (found->operand != kFixed) out.words.push_back({p.offset, *found});
      } else if (std::memcmp(one.block.data() + p.offset, other.block.data() + p.offset, bytes) != 0) {
        refuse("parameter " + p.name + " of " + kernel.name());
      }
    }
    return out;
  }

  Map map(const sass::Param& p, const LaunchTape::Launch& one, const LaunchTape::Launch& other) {
    TensorMap form = tapes_[0].map(one.block.data() + p.offset);
    TensorMap moved = tapes_[1].map(other.block.data() + p.offset);
    const Place at = address("a tensor map's address", form.address, moved.address);
    moved.address = form.address;
    if (form != moved) refuse("tensor map " + p.name + " of " + one.what.kernel().name());
    return {p.offset, at, std::make_unique<MapCache>(std::vector{form})};
  }

  std::array<std::vector<std::uint64_t>, 2> bases_;
  std::array<LaunchTape, 2> tapes_;
};

PlannedLaunches::PlannedLaunches(Device& device, std::span<const std::uint64_t> alignments, const Call& call)
    : device_(device) {
  Reader reader(alignments, call);
  steps_ = reader.steps();
  used_ = reader.used;
}

void PlannedLaunches::launch(std::span<const std::uint64_t> operands, StreamId stream) const {
  alignas(64) std::array<std::byte, Arguments::kMaxBytes> block;
  for (const Step& step : steps_) {
    if (const Launch* l = std::get_if<Launch>(&step)) {
      std::memcpy(block.data(), l->block.data(), l->block.size());
      for (const Word& w : l->words) {
        const std::uint64_t value = w.place.at(operands);
        std::memcpy(block.data() + w.offset, &value, sizeof value);
      }
      for (const Map& m : l->maps) m.maps->get(device_, m.place.at(operands), block.data() + m.offset);
      device_.launch(l->what, {block.data(), l->block.size()}, stream);
    } else if (const Fill* f = std::get_if<Fill>(&step)) {
      device_.fill(f->to.at(operands), f->what.value, f->what.width, f->what.count, stream);
    } else {
      const Copy& c = std::get<Copy>(step);
      device_.copy(c.to.at(operands), c.from.at(operands), c.bytes, stream);
    }
  }
}

std::vector<std::string> PlannedLaunches::kernels() const {
  std::vector<std::string> out;
  for (const Step& step : steps_) {
    if (const Launch* l = std::get_if<Launch>(&step)) out.push_back(l->what.kernel().name());
  }
  return out;
}

}  // namespace nervanagpu

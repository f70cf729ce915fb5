#include "sass/emulate/ops/control/external.h"
#include "sass/emulate/machine/groups.h"

#include <bit>
#include <cstdio>
#include <cstring>

#include "sass/emulate/machine/access_lane.h"
#include "sass/emulate/ops/control/print_format.h"
#include "sass/emulate/state/grid.h"
#include "sass/isa/arch.h"

namespace nervanagpu::sass::emulate {
namespace {

constexpr std::size_t kMaxText = std::size_t{1} << 20;  // of a string that is printed: what the buffer of a chip has

std::uint32_t& word(Warp& w, unsigned reg, unsigned lane) {
  return w.row(rows::use(static_cast<std::uint8_t>(reg)))[lane];
}
std::uint64_t pair(Warp& w, unsigned reg, unsigned lane) {
  return std::uint64_t{word(w, reg + 1, lane)} << 32 | word(w, reg, lane);
}

// Memory of one lane, as the function sees it. An address where nothing is ends what is read.
class LaneMemory final : public PrintMemory {
 public:
  LaneMemory(Warp& w, const Uop* u, unsigned lane) : w_(w), u_(u), lane_(lane) {}

  bool number(std::uint64_t address, unsigned bytes, std::uint64_t& value) override {
    const std::byte* p = at(address, bytes);
    if (p == nullptr) return false;
    value = 0;
    std::memcpy(&value, p, bytes);
    return true;
  }
  bool text(std::uint64_t address, std::string& out) override {
    for (; out.size() < kMaxText; ++address) {
      const std::byte* p = at(address, 1);
      if (p == nullptr) return false;
      if (*p == std::byte{0}) break;
      out += static_cast<char>(*p);
    }
    return true;
  }

 private:
  const std::byte* at(std::uint64_t address, unsigned bytes) {
    return locate(w_, u_, lane_, Space::kGlobal, address, bytes, Intent::kLoad);
  }

  Warp& w_;
  const Uop* u_;
  unsigned lane_;
};

// R4, R5: the format; R6, R7: the arguments, one after the other at multiples of their sizes. R4 becomes their number,
// or -1 where there is no format.
bool print_lane(Warp& w, const Uop* u, unsigned lane) {
  LaneMemory memory(w, u, lane);
  const std::uint64_t format = pair(w, 4, lane);
  if (format == 0) {
    word(w, 4, lane) = ~0u;
    return true;
  }
  std::string text;
  if (!memory.text(format, text)) return w.stop != Stop::kFault;
  const Printed printed = print_format(text, pair(w, 6, lane), memory);
  if (w.stop == Stop::kFault) return false;
  Grid& grid = *w.cta->grid;
  const std::lock_guard lock(grid.mutex);
  if (grid.launch.print) {
    grid.launch.print(printed.text);
  } else {
    std::fwrite(printed.text.data(), 1, printed.text.size(), stdout);
    grid.printed = true;
  }
  word(w, 4, lane) = printed.arguments;
  return true;
}

// __assertfail: the condition in R4, R5, the file in R6, R7, the line in R8, the function in R10, R11.
const Uop* assert_failed(Warp& w, const Uop* u, unsigned lane) {
  constexpr std::size_t kShown = 256;
  const auto string = [&](unsigned reg) {
    std::string text;
    for (std::uint64_t at = pair(w, reg, lane); text.size() < kShown; ++at) {
      const std::byte* c = w.memory->touch(at, 1);
      if (c == nullptr || *c == std::byte{0}) break;
      text += static_cast<char>(*c);
    }
    return text;
  };
  return fault(w, u, lane,
               "assertion failed: " + string(4) + ", in " + string(10) + ", " + string(6) + ":" +
                   std::to_string(word(w, 8, lane)));
}

// The lanes Warp::exec return: to R20, R21, or on sm_50 .. sm_62 to what PRET pushed.
const Uop* give_back(Warp& w, const Uop* u, unsigned first) {
  if (w.stacked) return pop_token(w, u, Token::Kind::kReturn);
  const std::uint64_t target = pair(w, 20, first) - kCodeWindow;
  const std::int64_t index = index_at(Encoding::k128, target);
  if (index < 0 || index >= static_cast<std::int64_t>(w.cta->grid->kernel->uops.size()) - 1) {
    return fault(w, u, first, "return to " + std::to_string(target) + ", which is not in the kernel");
  }
  return jump(w, u, static_cast<std::uint32_t>(index));
}

}  // namespace

const std::string* external_at(const Warp& w, bool narrow, std::uint64_t target) {
  const std::uint64_t window = narrow ? kExternalWindow32 - kCodeWindow32 : kExternalWindow - kCodeWindow;
  const std::uint64_t called = (target - window) / 16;
  const SharedBanks* banks = w.cta->grid->kernel->banks.get();
  if (banks == nullptr || target < window || called >= banks->externals.size()) return nullptr;
  return &banks->externals[called];
}

const Uop* call_external(Warp& w, const Uop* u, std::uint32_t lanes, std::uint32_t callers, const std::string& name) {
  const auto first = static_cast<unsigned>(std::countr_zero(callers));
  if (name == "__assertfail") return assert_failed(w, u, first);
  if (name != "vprintf") return fault(w, u, first, "calls " + name + ", which the emulator does not have");
  std::uint32_t together = callers;
  for (unsigned l = 0; l < kLanes && !w.stacked; ++l) {
    if (pair(w, 20, l) != pair(w, 20, first)) together &= ~(1u << l);
  }
  if (const std::uint32_t others = lanes & ~together; others != 0)
    split(w, others, static_cast<std::uint32_t>(u - w.code));
  w.exec = together;
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((together >> l & 1) != 0 && !print_lane(w, u, l)) return nullptr;
  }
  return give_back(w, u, first);
}

}  // namespace nervanagpu::sass::emulate

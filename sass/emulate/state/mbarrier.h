// The 64 bits of an mbarrier, as mbarrier.init and mbarrier.pending_count of sm_90a have them:
//   1..20 and 43..62  2^20 minus the arrivals of a phase, and minus those that this phase still lacks
//   21..42            bytes expected and not yet there; negative while bytes come before they are announced
//   63                parity of the phase
// A phase ends when no arrival and no byte is missing.
#pragma once

#include <cstdint>

namespace nervanagpu::sass::emulate {

class Mbarrier {
 public:
  static constexpr std::uint32_t kMaxArrivals = (1u << 20) - 1;
  static constexpr std::int32_t kMaxBytes = (1 << 20) - 1;

  constexpr explicit Mbarrier(std::uint64_t bits) : bits_(bits) {}
  static constexpr Mbarrier init(std::uint32_t arrivals) {
    Mbarrier b(0);
    b.put(kExpected, negated(arrivals));
    b.put(kPending, negated(arrivals));
    return b;
  }

  [[nodiscard]] constexpr std::uint64_t bits() const { return bits_; }
  [[nodiscard]] constexpr std::uint32_t expected() const { return negated(get(kExpected)); }
  [[nodiscard]] constexpr std::uint32_t pending() const { return negated(get(kPending)); }
  [[nodiscard]] constexpr std::int32_t bytes() const {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(bits_ >> 21) << 10) >> 10;
  }
  [[nodiscard]] constexpr bool parity() const { return bits_ >> 63 != 0; }
  // The phase of this parity is over.
  [[nodiscard]] constexpr bool passed(bool of) const { return parity() != of; }

  // False: that is more than the phase lacks, or more than the field holds; nothing has changed.
  constexpr bool arrive(std::uint32_t count) {
    if (count > pending()) return false;
    put(kPending, negated(pending() - count));
    settle();
    return true;
  }
  constexpr bool expect(std::int64_t more) {  // negative: bytes that came
    const std::int64_t sum = bytes() + more;
    if (sum > kMaxBytes || sum < -kMaxBytes) return false;
    bits_ = (bits_ & ~(std::uint64_t{0x3fffff} << 21)) | (static_cast<std::uint64_t>(sum) & 0x3fffff) << 21;
    settle();
    return true;
  }
  constexpr bool expect_and_arrive(std::int64_t more) {  // as one: the phase does not end in between
    Mbarrier b = *this;
    const std::int64_t sum = bytes() + more;
    if (pending() == 0 || sum > kMaxBytes || sum < -kMaxBytes) return false;
    b.bits_ = (bits_ & ~(std::uint64_t{0x3fffff} << 21)) | (static_cast<std::uint64_t>(sum) & 0x3fffff) << 21;
    b.arrive(1);
    *this = b;
    return true;
  }
  constexpr bool drop(std::uint32_t count = 1) {  // arrivals, and so many less in all phases to come
    if (count > pending() || count > expected()) return false;
    put(kExpected, negated(expected() - count));
    return arrive(count);
  }
  constexpr bool expect_and_drop(std::int64_t more) {  // as one
    if (pending() == 0 || expected() == 0) return false;
    const Mbarrier before = *this;
    put(kExpected, negated(expected() - 1));
    if (expect_and_arrive(more)) return true;
    *this = before;
    return false;
  }

 private:
  static constexpr unsigned kExpected = 1;
  static constexpr unsigned kPending = 43;
  static constexpr std::uint32_t negated(std::uint32_t n) { return (0u - n) & kMaxArrivals; }
  [[nodiscard]] constexpr std::uint32_t get(unsigned at) const {
    return static_cast<std::uint32_t>(bits_ >> at) & kMaxArrivals;
  }
  constexpr void put(unsigned at, std::uint32_t v) {
    bits_ = (bits_ & ~(std::uint64_t{kMaxArrivals} << at)) | std::uint64_t{v} << at;
  }
  constexpr void settle() {
    if (pending() != 0 || bytes() != 0) return;
    bits_ ^= std::uint64_t{1} << 63;
    put(kPending, get(kExpected));
  }

  std::uint64_t bits_;
};

}  // namespace nervanagpu::sass::emulate

// Enumerated fields that many rows of the 128-bit family share.
#pragma once

#include "sass/isa/rows/rowdsl.h"

namespace nervanagpu::sass {

inline constexpr ArchMask kHopper = mask_of(Arch::sm_90a);
inline constexpr ArchMask kFromTuring = mask_from(Arch::sm_75, Arch::sm_90a);
inline constexpr ArchMask kFromAmpere = mask_from(Arch::sm_80, Arch::sm_90a);
inline constexpr ArchMask kFromGA102 = mask_from(Arch::sm_86, Arch::sm_90a);
inline constexpr ArchMask kFromAda = mask_from(Arch::sm_89, Arch::sm_90a);
inline constexpr ArchMask kTuring = mask_of(Arch::sm_75);
inline constexpr ArchMask kAmpere = mask_from(Arch::sm_80, Arch::sm_89);
inline constexpr ArchMask kTuringToAda = mask_from(Arch::sm_75, Arch::sm_89);

// clang-format off
inline constexpr Enum kRound4[]  = {{Tok::kNone, 0}, {Tok::RM, 1}, {Tok::RP, 2}, {Tok::RZ, 3}};
inline constexpr Enum kCmpFloat[] = {{Tok::F, 0},   {Tok::LT, 1},  {Tok::EQ, 2},  {Tok::LE, 3},  {Tok::GT, 4},
        {Tok::NE, 5},
                                     {Tok::GE, 6},  {Tok::NUM, 7}, {Tok::kNAN, 8}, {Tok::LTU, 9}, {Tok::EQU, 10},
                                           {Tok::LEU, 11},
                                     {Tok::GTU, 12}, {Tok::NEU, 13}, {Tok::GEU, 14}, {Tok::T, 15}};
inline constexpr Enum kCmpInt[]  = {{Tok::F, 0}, {Tok::LT, 1}, {Tok::EQ, 2}, {Tok::LE, 3}, {Tok::GT, 4},
      {Tok::NE, 5}, {Tok::GE, 6}, {Tok::T, 7}};
inline constexpr Enum kBoolOp[]  = {{Tok::AND, 0}, {Tok::OR, 1}, {Tok::XOR, 2}};
inline constexpr Enum kMemSize[] = {{Tok::U8, 0}, {Tok::S8, 1}, {Tok::U16, 2}, {Tok::S16, 3}, {Tok::kNone, 4},
      {Tok::k64, 5}, {Tok::k128, 6}};
inline constexpr Enum kEvict[]   = {{Tok::EF, 0}, {Tok::kNone, 1}, {Tok::EL, 2}, {Tok::LU, 3}, {Tok::EU, 4},
      {Tok::NA, 5}};
inline constexpr Enum kPrefetchSize[] = {{Tok::kNone, 0}, {Tok::LTC64B, 1}, {Tok::LTC128B, 2}, {Tok::LTC256B, 3}};
inline constexpr Enum kLoadOrder[]  = {{Tok::kNone, 0}, {Tok::CONSTANT, 4}, {Tok::STRONG_SM, 5},
      {Tok::STRONG_GPU_PRIVATE, 6}, {Tok::STRONG_GPU, 7},
                                       {Tok::MMIO_GPU, 8}, {Tok::STRONG_SYS, 10}, {Tok::MMIO_SYS, 12}};
inline constexpr Enum kStoreOrder[] = {{Tok::kNone, 0}, {Tok::STRONG_SM_PRIVATE, 4}, {Tok::STRONG_SM, 5},
      {Tok::STRONG_GPU_PRIVATE, 6}, {Tok::STRONG_GPU, 7},
                                       {Tok::MMIO_GPU, 8}, {Tok::STRONG_SYS, 10}, {Tok::MMIO_SYS, 12}};
// clang-format on

}  // namespace nervanagpu::sass

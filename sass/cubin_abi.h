// The numbers of the cubin container, shared by its writer (asm/link) and its reader (dis/read_cubin): ELF64 with
// NVIDIA's machine, section types and .nv.info attributes.
//
// ABI 7 is what CUDA up to 12.x writes, and what we write unless told otherwise; drivers up to R580 at least load it. ABI 8 is
// that of CUDA 13.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nervanagpu::sass {

// --- ELF -------------------------------------------------------------------------------------------------------------
inline constexpr std::size_t kElfHeaderBytes = 64;
inline constexpr std::size_t kSectionHeaderBytes = 64;
inline constexpr std::size_t kProgramHeaderBytes = 56;
inline constexpr std::size_t kSymbolBytes = 24;
inline constexpr std::size_t kRelaBytes = 24;
inline constexpr std::size_t kRelBytes = 16;

inline constexpr std::uint16_t kMachineCuda = 190;
inline constexpr std::uint16_t kTypeExec = 2;
inline constexpr std::uint8_t kOsAbi7 = 0x33;    // EI_OSABI, with EI_ABIVERSION 7
inline constexpr std::uint8_t kOsAbi8 = 0x41;    // EI_OSABI, with EI_ABIVERSION 8
inline constexpr std::uint32_t kToolkit = 0x7c;  // e_version of ABI 7 and CUDA_API_VERSION: CUDA 12.4

inline constexpr std::uint32_t kToolkit8 = 0x82;  // the same of ABI 8: CUDA 13.0

// e_flags of ABI 8: SM << 8, and these.
inline constexpr std::uint32_t kFlags8 = 0x0600'0004;

// e_flags of ABI 7: virtual SM << 16, SM, and these.
inline constexpr std::uint32_t kFlagUnifiedTexture = 0x100;
inline constexpr std::uint32_t kFlag64BitAddress = 0x400;
inline constexpr std::uint32_t kFlagAccelerated = 0x800;  // the "a" targets

enum SectionType : std::uint32_t {
  kSectionNull = 0,
  kSectionProgbits = 1,
  kSectionSymtab = 2,
  kSectionStrtab = 3,
  kSectionRela = 4,
  kSectionNote = 7,
  kSectionNobits = 8,
  kSectionRel = 9,
  kSectionNvInfo = 0x70000000,
  kSectionNvCompat = 0x70000086,  // ABI 8, sm_90
};

enum SectionFlag : std::uint64_t {
  kSectionWrite = 1,
  kSectionAlloc = 2,
  kSectionExec = 4,
  kSectionInfoLink = 0x40,
  kSectionCuinfo = 0x100'0000,  // ABI 8: which note a section is
  kSectionTkinfo = 0x200'0000,
};
// .text.K of ABI 7 keeps the number of named barriers in its flags, in seven bits from here.
inline constexpr unsigned kBarrierShift = 20;
inline constexpr std::uint32_t kBarrierMask = 0x7f;
// .text.K up to sm_89 keeps the register count above the symbol index in sh_info.
inline constexpr unsigned kRegisterShift = 24;

// Types of relocations: what goes where.
enum RelocationType : std::uint32_t {
  kReloc32 = 1,
  kReloc64 = 2,
  kRelocGeneric32 = 3,  // a generic address; of a variable in global memory that is the same
  kRelocGeneric64 = 4,
  kRelocLow32 = 56,    // bits 32 to 63 of an instruction: the low half of an address
  kRelocHigh32 = 57,   // the high half
  kRelocCall = 58,     // the target of CALL.ABS, up to sm_89
  kRelocFarCall = 75,  // the same on sm_90
};

enum SymbolInfo : std::uint8_t {
  kSymbolLocalSection = 0x03,
  kSymbolGlobalFunction = 0x12,
};
inline constexpr std::uint8_t kSymbolFunction = 2;  // the type nibble of st_info
inline constexpr std::uint8_t kSymbolObject = 1;
inline constexpr std::uint8_t kSymbolEntry = 0x10;  // st_other: a kernel

enum SegmentType : std::uint32_t { kSegmentLoad = 1, kSegmentPhdr = 6 };
enum SegmentFlag : std::uint32_t { kSegmentExec = 1, kSegmentWrite = 2, kSegmentRead = 4 };

// --- .nv.info --------------------------------------------------------------------------------------------------------
// A record is format u8, attribute u8, then by the format: two zero bytes; a byte and a zero; a u16; or a u16 size and
// that many bytes.
enum class InfoFormat : std::uint8_t { kNone = 1, kByte = 2, kHalf = 3, kSized = 4 };

enum class Attr : std::uint8_t {
  kCtaidzUsed = 0x04,            // up to sm_89: the kernel reads ctaid.z
  kMaxThreads = 0x05,            // 3 x u32: launch bounds
  kParamCbank = 0x0a,            // u32 symbol of .nv.constant0.K, u16 offset, u16 size
  kReqntid = 0x10,               // 3 x u32: the exact CTA size
  kFrameSize = 0x11,             // u32 symbol, u32 bytes
  kMinStackSize = 0x12,          // u32 symbol, u32 bytes
  kKparamInfo = 0x17,            // u32 0, u16 ordinal, u16 offset, u32 size << 18 | 0x1f000
  kCbankParamSize = 0x19,        // half
  kMaxregCount = 0x1b,           // half: most registers a thread may have, 255 without bounds
  kExitInstrOffsets = 0x1c,      // u32 each
  kS2rctaidInstrOffsets = 0x1d,  // u32 each, sm_50 .. sm_62
  kCrsStackSize = 0x1e,          // u32: call-return stack of SSY, PBK and divergent branches
  kSw1850030War = 0x2a,          // sm_50 .. sm_62
  kRegcount = 0x2f,              // u32 symbol, u32 registers
  kSw2393858War = 0x30,          // sm_50 .. sm_62
  kSw2861232War = 0x35,          // sm_80, sm_86
  kSwWar = 0x36,                 // u32: 1 on sm_70 and sm_75, 8 on sm_90
  kCudaApiVersion = 0x37,        // u32
  kNumMbarriers = 0x38,          // half: instructions that make one, sm_90; where there is the next
  kMbarrierOffsets = 0x39,       // 4 x u32 each: address; R of the operand, 0xff: none; its offset; u8 kind, 1, UR, 0
  kCtaPerCluster = 0x3d,         // 3 x u32, sm_90
  kExplicitCluster = 0x3e,       // the cluster is the kernel's, not the launch's
  kNumBarriers = 0x4c,           // byte; CUDA 13
  kSparseMmaMask = 0x50,         // half, sm_90
  kCuda13 = 0x5f,                // half: 0x101 on sm_90, else 0; in every kernel of CUDA 13
};

// A 64 KB constant bank and its parameter block.
inline constexpr std::uint32_t kMaxConstantBytes = 65536;
inline constexpr std::uint32_t kMaxParamBytes = 4096 - 4;
inline constexpr std::uint32_t kMaxRegisters = 255;
inline constexpr std::uint32_t kMaxBarriers = 16;
inline constexpr std::uint32_t kMaxThreads = 1024;
inline constexpr std::uint32_t kMaxCluster = 16;             // CTAs; more than 8 are not portable
inline constexpr std::uint32_t kMaxLocalBytes = 512u << 10;  // of a thread
inline constexpr std::uint32_t kUnknownStack = 0xffffffffu;  // MIN_STACK_SIZE of recursive kernels
inline constexpr std::uint64_t kMaxVariableBytes = std::uint64_t{1} << 40;

// Section indices of ELF end at 0xff00, and a kernel has six sections. (With 256 registers above it, a symbol index has
// 24 bits.)
inline constexpr std::size_t kMaxKernels = 10000;

// What we add: sections that are not loaded, last in the file, so that a cubin describes itself.
inline constexpr const char* kManifestSection = ".ngasm.manifest.";
inline constexpr const char* kLinesSection = ".ngasm.lines.";

}  // namespace nervanagpu::sass

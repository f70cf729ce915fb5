// What the stages hand on:  text -> expand -> Expansion -> parse, check -> Program -> schedule -> encode -> link -> bytes
// A template expands once per variant, so one Program is one kernel; link puts any number of them into one cubin.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sass/asm/mapped_text.h"
#include "sass/isa/arch.h"
#include "sass/isa/inst.h"
#include "sass/result.h"

namespace nervanagpu::sass {

enum class ParamType : std::uint8_t { u8, s8, u16, s16, u32, s32, u64, s64, f16, f32, f64, ptr, map };
unsigned size_of(ParamType t);
std::string_view name_of(ParamType t);
// The least offset from `offset` on where a parameter of this type may lie.
unsigned aligned_offset(ParamType t, unsigned offset);

struct Param {
  std::string name;
  ParamType type = ParamType::u32;
  std::uint16_t offset = 0;  // bytes from the start of the parameter block; naturally aligned, in order
  friend bool operator==(const Param&, const Param&) = default;
};

// What a `.word` declares (sass/isa/codec/raw_word.h): the bits alone do not say it.
struct DeclaredWord {
  std::uint32_t index = 0;  // of the instruction
  std::string text;
  friend bool operator==(const DeclaredWord&, const DeclaredWord&) = default;
};

// The front matter of a template after expansion of one variant: everything the registry, the tests, the benchmarks
// and the docs derive from. It travels in the cubin, so a cubin describes itself.
struct Manifest {
  std::string name;  // sgemm_nt_128x128
  std::string op;    // the template's base name: sgemm
  Arch arch = Arch::sm_90a;
  std::map<std::string, std::string> variant;  // TA -> n, BM -> 128
  std::vector<Param> params;
  std::uint32_t threads = 0;             // CTA size the kernel is written for
  std::uint32_t shared = 0;              // bytes of shared memory of a CTA
  std::uint32_t registers = 0;           // 0: as many as the code uses
  std::uint32_t cluster = 1;             // CTAs of a cluster, along x
  bool programmatic = false;             // may be launched before the work ahead has ended: it waits by ACQBULK
  std::vector<std::string> needs;        // conditions a problem must satisfy, one expression each
  std::string accum;                     // order class: equal class means bitwise equal results
  std::string bound;                     // error bound
  std::vector<DeclaredWord> words = {};  // ascending
};
// What instruction `index` declares; nullptr: nothing.
const std::string* declared_at(const Manifest& manifest, std::uint32_t index);

// How a line got where it is: a macro call or an include, and what that came from.
struct Origin {
  std::string what;  // "in macro load, called"
  Span at;
  std::shared_ptr<const Origin> outer;
};

// Memories that an instruction may touch, as bits: what `.schedule independent` names.

// The .schedule block that a line belongs to, and what its author says of it.
struct ScheduleMark {
  std::uint32_t block = 0;       // 0: none; its lines keep their order
  std::uint8_t independent = 0;  // memories whose accesses do not meet
  std::uint8_t yields = 0;       // n: every n-th instruction lets the scheduler prefer another warp; 0: none
};

// One line of template text after expansion: a label or an instruction with its control column.
struct TextLine {
  std::string text;
  Span at;                             // in the template or the included file
  std::vector<ColumnMark> columns;     // where the pieces of `text` stand in that line
  std::shared_ptr<const Origin> from;  // innermost first; null: the template itself
  ScheduleMark mark = {};
};

struct Expansion {
  Manifest manifest;
  std::vector<TextLine> lines;
  std::vector<std::string> names = {};  // of registers, as far as they were declared: for error messages
};

// Which control fields the author pinned; schedule fills the others.
struct Pinned {
  bool stall = false, yield = false, write_sb = false, read_sb = false, wait = false, reuse = false;
};

struct Line {
  Inst inst;
  Pinned pinned;
  Span at;
  ScheduleMark mark;
  std::string label;  // name of the branch target, resolved by parse into the Label operand's imm as an
                      // instruction index; encode turns it into an address
};

struct Program {
  Manifest manifest;
  std::vector<Line> lines;
  std::map<std::string, std::uint32_t> labels;  // name -> instruction index
};

}  // namespace nervanagpu::sass

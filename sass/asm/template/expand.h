// The first stage: a template and the definitions of one variant become front matter and plain lines, in which every
// loop is unrolled, every name is a register and every expression a number. docs/language.md is the reference.
#pragma once

#include "sass/asm/pipeline.h"

namespace nervanagpu::sass {

// What no template may exceed. All are errors at the line that does.
inline constexpr unsigned kMaxCallDepth = 16;  // macro calls and includes inside one another
#ifdef NG_FUZZ                                 // sanitized code is far slower; the errors are the same
inline constexpr unsigned kShrink = 100;
#else
inline constexpr unsigned kShrink = 1;
#endif
inline constexpr std::size_t kMaxLines = 1'000'000 / kShrink;    // expanded lines
inline constexpr std::size_t kMaxBytes = (64u << 20) / kShrink;  // expanded text
inline constexpr std::uint64_t kMaxSteps = 5'000'000 / kShrink;  // statements executed; one more per 128 bytes of each

// "file:line:col" of every origin, innermost first: the notes of a Diag.
void add_origins(Diag& diag, const Origin* from);

// The text form of a stage's product, for --dump.
std::string dump(const Expansion& expansion);

}  // namespace nervanagpu::sass

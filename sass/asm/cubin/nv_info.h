// The contents of .nv.info and .nv.info.K: what the loader reads about all kernels, and about one.
#pragma once

#include <cstdint>

#include "sass/asm/cubin/code_facts.h"
#include "sass/bytes.h"
#include "sass/cubin.h"

namespace nervanagpu::sass {

// Appends the records of one kernel to .nv.info: registers and stack.
void append_global_info(Bytes& out, const KernelImage& kernel, std::uint32_t kernel_symbol);

// .nv.info.K, in the order of records that ptxas writes for the architecture.
Bytes kernel_info(Arch arch, const KernelImage& kernel, const CodeFacts& facts, std::uint32_t constant_symbol,
                  CubinAbi abi);

// 32-bit registers of a multiprocessor that one CTA may have.
std::uint32_t register_file(Arch arch);

// Threads that a CTA of the kernel may have at most, as far as stated; 0: not stated.
std::uint32_t thread_limit(const KernelImage& kernel);

}  // namespace nervanagpu::sass

// What ABI 8 adds to a cubin: two notes, and the records of compatibility (sm_90 and later). An H200's driver (580.159) says
// CUDA_ERROR_INVALID_IMAGE to a file without either note. Flags, links and .nv.compat it does not ask for; they are ptxas 13's.
#pragma once

#include "sass/asm/cubin/elf_writer.h"
#include "sass/isa/arch.h"

namespace nervanagpu::sass {

// Which tool made the file: .note.nv.tkinfo.
ElfSection tkinfo_section(Arch arch);
// The toolkit's number and the chip: .note.nv.cuinfo. `tkinfo` and `compat` are section indices, compat 0 where there is none.
ElfSection cuinfo_section(Arch arch, std::uint32_t tkinfo, std::uint32_t compat);
// .nv.compat of sm_90a.
ElfSection compat_section(Arch arch);

}  // namespace nervanagpu::sass

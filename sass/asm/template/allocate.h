// Registers for the names that have none yet (`.allocate live`): two names share a register if they are never live at the
// same time. The last step of expand.
#pragma once

#include <vector>

#include "sass/asm/program.h"
#include "sass/asm/template/names.h"
#include "sass/result.h"

namespace nervanagpu::sass {

// `expansion`, with a register in place of every number of `names`. None gets a register of `kept_away`, nor one that the
// code names by number. The same text gives the same registers.
Result<Expansion> allocate(const Expansion& expansion, const std::vector<FreeName>& names,
                           const std::vector<RegView>& kept_away);

}  // namespace nervanagpu::sass

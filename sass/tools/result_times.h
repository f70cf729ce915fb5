// When the results of an instruction form are there, for those that read them: the latency table as people ask it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sass/isa/arch.h"
#include "sass/isa/rows/row.h"

namespace nervanagpu::sass::tools {

struct ResultTime {
  std::string result;            // "register", "predicate"; of HMMA also how many registers A has
  std::string_view reader;       // "ALU", "FMA", "address", "guard", ...
  int need = 0;                  // cycles from issue to issue: with fewer, verify complains
  int safe = 0;                  // what schedule leaves
  std::string_view source = {};  // where the number is from: sass/isa/latency.inc says what the words mean
};

// Of results of fixed latency; none where a scoreboard announces them or there are none.
std::vector<ResultTime> result_times(Arch arch, const Row& row);

// "register: ALU 5, 5 (measured), FMA 4, 4 (measured)": one text for each kind of result; needed, then what schedule leaves.
std::vector<std::string> result_texts(Arch arch, const Row& row);

}  // namespace nervanagpu::sass::tools

// Golden vectors: lines "hex <tab> text" whose text comes from nvdisasm, not from us.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "sass/isa/arch.h"
#include "sass/isa/control.h"
#include "sass/isa/word.h"

namespace nervanagpu::sass::test {

struct Golden {
  Word word;
  std::string text;
  int line = 0;
};

inline std::string data_path(const std::string& name) {
  return std::string(NG_SOURCE_DIR) + "/test/sass/isa/" + name;
}

inline std::vector<Golden> read_golden(const std::string& name, Encoding encoding) {
  std::vector<Golden> out;
  std::ifstream in(data_path(name));
  std::string line;
  for (int n = 1; std::getline(in, line); ++n) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t tab = line.find('\t');
    const std::string hex = line.substr(0, tab);
    Golden g;
    if (encoding == Encoding::k128) {
      g.word.hi = std::stoull(hex.substr(0, 16), nullptr, 16);
      g.word.lo = std::stoull(hex.substr(16), nullptr, 16);
    } else {
      g.word = put_control({std::stoull(hex, nullptr, 16), 0}, {});
    }
    g.text = line.substr(tab + 1);
    g.line = n;
    out.push_back(std::move(g));
  }
  return out;
}

}  // namespace nervanagpu::sass::test

#include "sass/result.h"

namespace nervanagpu::sass {

std::string Diag::text() const {
  std::string out;
  if (!at.file.empty()) out += at.file + ":";
  if (at.line != 0) out += std::to_string(at.line) + ":" + std::to_string(at.col) + ":";
  if (!out.empty()) out += " ";
  out += "error: " + message;
  for (const std::string& n : notes) out += "\n  " + n;
  return out;
}

}  // namespace nervanagpu::sass

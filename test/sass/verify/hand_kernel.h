// Kernels written by hand for tests of schedule and verify: one instruction a line, "label:" before some, a control
// column "WW:R:W:Y:S" (parse.h) in front of those that pin something.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "sass/asm/cubin/encode.h"
#include "sass/asm/parse.h"
#include "sass/asm/program.h"
#include "sass/asm/schedule/schedule.h"
#include "sass/isa/codec/codec.h"
#include "sass/verify/verify.h"

namespace nervanagpu::sass::test {

// Control fields without a column are open (schedule fills them) in program(), and defaults in kernel().
inline Program program(const std::string& text, Arch arch = Arch::sm_90a) {
  Program p;
  p.manifest.name = "hand";
  p.manifest.arch = arch;
  std::istringstream in(text);
  std::string row;
  std::uint32_t number = 0;
  std::vector<std::string> wanted;
  while (std::getline(in, row)) {
    ++number;
    const auto begin = row.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    row = row.substr(begin);
    if (row.back() == ':') {
      p.labels[row.substr(0, row.size() - 1)] = static_cast<std::uint32_t>(p.lines.size());
      continue;
    }
    Line line;
    line.at = {"hand.sass", number, 1};
    ControlColumn column;
    const auto bar = row.find(" | ");
    if (bar != std::string::npos) {
      Result<ControlColumn> parsed = parse_control_column(row.substr(0, bar));
      EXPECT_TRUE(parsed.ok()) << row << ": " << (parsed.ok() ? "" : parsed.error().text());
      if (parsed.ok()) column = *parsed;
      row = row.substr(bar + 3);
    }
    Result<ParsedInst> inst = parse_inst(arch, row, line.at);
    EXPECT_TRUE(inst.ok()) << row << ": " << (inst.ok() ? "" : inst.error().text());
    if (!inst.ok()) continue;
    line.inst = inst->inst;
    line.inst.control = column.control;
    line.pinned = column.pinned;
    line.label = inst->label;
    p.lines.push_back(line);
  }
  for (Line& line : p.lines) {
    if (line.label.empty()) continue;
    for (Operand& o : line.inst.operands()) {
      if (o.kind == OperandKind::kLabel) o.imm = p.labels.at(line.label);
    }
  }
  return p;
}

inline KernelImage encoded(const Program& p) {
  Result<KernelImage> image = encode_kernel(p);
  EXPECT_TRUE(image.ok()) << (image.ok() ? "" : image.error().text());
  return image.ok() ? *image : KernelImage{};
}

// Exactly as written: fields without a column take the defaults of Control.
inline KernelImage kernel(const std::string& text, Arch arch = Arch::sm_90a) {
  return encoded(program(text, arch));
}

inline Program scheduled(const std::string& text, Arch arch = Arch::sm_90a) {
  Program p = program(text, arch);
  const Status s = schedule(p);
  EXPECT_TRUE(s.ok()) << (s.ok() ? "" : s.error().text());
  return p;
}

inline std::string listing(const Program& p) {
  std::string out;
  for (const Line& l : p.lines) out += control_column(l.inst.control) + " | " + print(l.inst) + "\n";
  return out;
}

inline std::string sentences(const std::vector<Hazard>& hazards) {
  std::string out;
  for (const Hazard& h : hazards) out += h.text + "\n";
  return out;
}

}  // namespace nervanagpu::sass::test

// A KernelReport as a table for people and as JSON for programs.
#include <cstdarg>
#include <cstdio>

#include "sass/asm/report.h"

namespace nervanagpu::sass {
namespace {

constexpr std::size_t kShownConflicts = 12;

__attribute__((format(printf, 1, 2))) std::string format(const char* text, ...) {
  char out[512];
  va_list list;
  va_start(list, text);
  std::vsnprintf(out, sizeof out, text, list);
  va_end(list);
  return out;
}

std::string place(const Span& at) {
  return at.file + ":" + std::to_string(at.line);
}

std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      out += format("\\u%04x", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// Measured on an H200 (docs/lab/sgemm.md): 8 cost a loop of FFMA and LDS 2 % of its rate, 2 nothing.
constexpr std::uint32_t kLongRun = 6;

std::string loop_table(const LoopReport& l) {
  std::string out = "  loop " + place(l.first) + " to line " + std::to_string(l.last.line) +
                    (l.depth > 1 ? ", at depth " + std::to_string(l.depth) : "") + "\n";
  out += "    issue slots     " + std::to_string(l.instructions);
  for (std::size_t p = 0; p < kPipes; ++p) {
    if (l.slots[p] == 0) continue;
    out += format("  %s %u (%.1f %%)", std::string(name_of(static_cast<Pipe>(p))).c_str(), l.slots[p],
                  100.0 * l.slots[p] / l.instructions);
  }
  out += format("\n    one warp alone  %.0f cycles a pass: %u issue", l.alone, l.instructions);
  if (l.stall > 0) out += format(", %.1f stall counts", l.stall);
  if (l.scoreboard > 0) out += format(", %.1f scoreboards", l.scoreboard);
  if (l.pipe > 0) out += format(", %.1f busy pipes", l.pipe);
  if (l.banks > 0) out += format(", %.1f register banks", l.banks);
  out += format("\n    %u %s a scheduler  %.0f cycles a pass of all; the bound is %.0f (%s)\n", l.warps,
                l.warps == 1 ? "warp" : "warps", l.predicted, l.bound, l.bound_by.c_str());
  if (l.bank_run >= kLongRun && l.slots[static_cast<std::size_t>(Pipe::kMemory)] != 0) {
    out += format("    %u results in a row go to one register bank: loads wait to write theirs\n", l.bank_run);
  }
  if (l.held != 0 && l.bytes > l.held) {
    out += format("    its text has %u bytes; an SM holds %u: warps will wait for instructions\n", l.bytes, l.held);
  }
  return out;
}

std::string loop_json(const LoopReport& l) {
  std::string slots, busy;
  for (std::size_t p = 0; p < kPipes; ++p) {
    const std::string name = json_text(std::string(name_of(static_cast<Pipe>(p))));
    slots += (p == 0 ? "" : ",") + name + ":" + std::to_string(l.slots[p]);
    busy += (p == 0 ? "" : ",") + name + ":" + std::to_string(l.busy[p]);
  }
  return "{\"file\":" + json_text(l.first.file) + ",\"first_line\":" + std::to_string(l.first.line) +
         ",\"last_line\":" + std::to_string(l.last.line) + ",\"depth\":" + std::to_string(l.depth) +
         ",\"instructions\":" + std::to_string(l.instructions) + ",\"bytes\":" + std::to_string(l.bytes) +
         ",\"bank_run\":" + std::to_string(l.bank_run) + ",\"slots\":{" + slots + "},\"busy\":{" + busy + "}" +
         format(",\"cycles_alone\":%.2f,\"lost\":{\"stall\":%.2f,\"scoreboard\":%.2f,\"pipe\":%.2f,\"banks\":%.2f}",
                l.alone, l.stall, l.scoreboard, l.pipe, l.banks) +
         format(",\"warps_per_scheduler\":%u,\"bound\":%.2f,\"bound_by\":", l.warps, l.bound) + json_text(l.bound_by) +
         format(",\"cycles\":%.2f}", l.predicted);
}

}  // namespace

std::string table_of(const KernelReport& r) {
  std::string out = r.name + " (" + std::string(info(r.arch).name) + ")\n";
  out += format("  %u instructions; registers %u R, %u UR, %u P, %u UP; %u threads; %u bytes of shared memory\n",
                r.instructions, r.registers, r.uniform, r.predicates, r.uniform_predicates, r.threads, r.shared);
  const Occupancy& o = r.occupancy;
  out += format("  occupancy: %u CTAs, %u of %u warps an SM; the limit is %s%s\n", o.ctas, o.warps, o.most_warps,
                std::string(o.limit).c_str(), r.threads == 0 ? " (no .threads: a CTA of one warp)" : "");
  if (!r.conflicts.empty()) {
    out += format("  bank conflicts: %zu\n", r.conflicts.size());
    for (std::size_t i = 0; i < r.conflicts.size() && i < kShownConflicts; ++i) {
      out += "    " + place(r.conflicts[i].at) + ": +" + std::to_string(r.conflicts[i].cycles) + " " +
             r.conflicts[i].text + "\n";
    }
    if (r.conflicts.size() > kShownConflicts) {
      out += "    and " + std::to_string(r.conflicts.size() - kShownConflicts) + " more (--json lists all)\n";
    }
  }
  for (const LoopReport& l : r.loops) out += loop_table(l);
  return out;
}

std::string json_of(const KernelReport& r) {
  const Occupancy& o = r.occupancy;
  std::string conflicts, loops;
  for (const BankConflict& c : r.conflicts) {
    conflicts += (conflicts.empty() ? "{" : ",{") + std::string("\"file\":") + json_text(c.at.file) +
                 ",\"line\":" + std::to_string(c.at.line) + ",\"cycles\":" + std::to_string(c.cycles) +
                 ",\"text\":" + json_text(c.text) + "}";
  }
  for (const LoopReport& l : r.loops) loops += (loops.empty() ? "" : ",") + loop_json(l);
  return "{\"kernel\":" + json_text(r.name) + ",\"arch\":" + json_text(std::string(info(r.arch).name)) +
         format(
             ",\"instructions\":%u,\"registers\":{\"R\":%u,\"UR\":%u,\"P\":%u,\"UP\":%u},\"threads\":%u,\"shared\":%u",
             r.instructions, r.registers, r.uniform, r.predicates, r.uniform_predicates, r.threads, r.shared) +
         format(",\"occupancy\":{\"ctas\":%u,\"warps\":%u,\"most_warps\":%u,\"limit\":", o.ctas, o.warps,
                o.most_warps) +
         json_text(std::string(o.limit)) + "},\"bank_conflicts\":[" + conflicts + "],\"loops\":[" + loops + "]}";
}

}  // namespace nervanagpu::sass

// Where each instruction of a kernel comes from, as runs of instructions from one place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sass/result.h"

namespace nervanagpu::sass {

class LineTable {
 public:
  struct Run {
    std::uint32_t first = 0;  // instruction
    std::uint32_t file = 0;   // index into files()
    std::uint32_t line = 0;   // 0: unknown
    std::uint32_t col = 0;
  };

  LineTable() = default;
  LineTable(std::span<const Span> places);  // NOLINT: one for each instruction

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }  // instructions
  // Of instruction i < size().
  [[nodiscard]] Span operator[](std::size_t i) const;
  [[nodiscard]] std::uint32_t line(std::size_t i) const { return run_of(i).line; }

  // Of the next instruction.
  void push_back(const Span& place);
  // The last instructions go, or others come that are from nowhere.
  void resize(std::size_t size);

  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
  // As a reader found them: runs ascend from instruction 0 and stay below `size`, files exist.
  LineTable(std::vector<std::string> files, std::vector<Run> runs, std::size_t size)
      : files_(std::move(files)), runs_(std::move(runs)), size_(size) {}

 private:
  [[nodiscard]] const Run& run_of(std::size_t i) const;

  std::vector<std::string> files_;
  std::vector<Run> runs_;
  std::size_t size_ = 0;
};

}  // namespace nervanagpu::sass

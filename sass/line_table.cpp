#include "sass/line_table.h"

#include <algorithm>

namespace nervanagpu::sass {

LineTable::LineTable(std::span<const Span> places) {
  for (const Span& p : places) push_back(p);
}

const LineTable::Run& LineTable::run_of(std::size_t i) const {
  return *(std::ranges::upper_bound(runs_, i, {}, &Run::first) - 1);
}

Span LineTable::operator[](std::size_t i) const {
  const Run& run = run_of(i);
  return {files_[run.file], run.line, run.col};
}

void LineTable::push_back(const Span& place) {
  const Run* last = runs_.empty() ? nullptr : &runs_.back();
  std::size_t file = last != nullptr && files_[last->file] == place.file
                         ? last->file
                         : static_cast<std::size_t>(std::ranges::find(files_, place.file) - files_.begin());
  if (file == files_.size()) files_.push_back(place.file);
  if (last == nullptr || last->file != file || last->line != place.line || last->col != place.col)
    runs_.push_back({static_cast<std::uint32_t>(size_), static_cast<std::uint32_t>(file), place.line, place.col});
  ++size_;
}

void LineTable::resize(std::size_t size) {
  while (!runs_.empty() && runs_.back().first >= size) runs_.pop_back();
  if (size <= size_) {
    size_ = size;
    return;
  }
  push_back({});
  size_ = size;
}

}  // namespace nervanagpu::sass

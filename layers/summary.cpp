// Network::summary.
#include <array>
#include <cstdio>

#include "layers/network_impl.h"

namespace nervanagpu {
namespace {

using Row = std::array<std::string, 5>;

std::string number(std::int64_t v) {
  std::string digits = std::to_string(v);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

std::string text(const char* format, double v) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, v);
  return buffer.data();
}

std::string bytes(std::size_t v) {
  const auto d = static_cast<double>(v);
  if (v < 10 * 1024) return number(static_cast<std::int64_t>(v)) + " B";
  if (v < std::size_t{10} << 20) return text("%.1f KiB", d / 1024.0);
  if (v < std::size_t{10} << 30) return text("%.1f MiB", d / (1 << 20));
  return text("%.1f GiB", d / (1 << 30));
}

std::int64_t count(const layers::Layer& layer) {
  std::int64_t sum = 0;
  for (const layers::Parameter* p : layer.parameters()) sum += p->value.size();
  return sum;
}

void add_rows(const std::vector<layers::LayerPtr>& chain, int depth, std::size_t element, std::vector<Row>& rows) {
  for (const layers::LayerPtr& layer : chain) {
    const std::string& name = layer->name();
    const std::size_t last = name.rfind('.');
    rows.push_back({std::string(static_cast<std::size_t>(depth) * 2, ' ') +
                        (depth > 0 ? name.substr(name.rfind('.', last - 1) + 1) : name),
                    layer->out().text(), number(count(*layer)), text("%.3f", layer->flops() * 1e-6),
                    bytes(static_cast<std::size_t>(layer->out().size()) * element)});
    if (const auto* branches = layer->impl().branches()) {
      for (const auto& branch : *branches) add_rows(branch, depth + 1, element, rows);
    }
  }
}

}  // namespace

std::string Network::summary(std::int64_t batch) const {
  const std::size_t element = size_of(impl_->options.dtype);
  std::vector<Row> rows = {{"layer", "output", "parameters", "MFLOP", "bytes"}, {"input", in().text(), "", "", ""}};
  add_rows(impl_->layers, 0, element, rows);
  std::int64_t total = 0;
  for (const layers::Parameter* p : impl_->parameters) total += p->value.size();
  rows.push_back({"total", "", number(total), text("%.3f", flops() * 1e-6), ""});

  std::array<std::size_t, 5> width{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::string out;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(width[i] - row[i].size(), ' ');
      line += (i > 0 ? "   " : "") + (i < 2 ? row[i] + pad : pad + row[i]);
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  const MemoryPlan training = memory(batch, true);
  const MemoryPlan inference = memory(batch, false);
  const bool last = impl_->options.layout == Layout::channels_last;
  out += "MFLOP and bytes: forward, one sample; " + std::string(name_of(impl_->options.dtype)) +
         (last ? ", channels last\n" : ", batch last\n");
  out += "memory of a batch of " + std::to_string(batch) + ": training " + bytes(training.arena) + " (" +
         bytes(training.unshared) + " unshared), inference " + bytes(inference.arena) + " (" +
         bytes(inference.unshared) + " unshared)\n";
  return out;
}

}  // namespace nervanagpu

#include "kernels/conv/problem_facts.h"

#include <algorithm>
#include <cstdint>

#include "kernels/conv/depthwise/depthwise.h"
#include "kernels/conv/implicit/byte_results.h"
#include "kernels/conv/launch.h"
#include "kernels/conv/pieces/pieces.h"
#include "kernels/conv/pieces/two_pieces.h"
#include "kernels/conv/problem.h"
#include "kernels/conv/strided/by_cells.h"
#include "kernels/conv/tensor_cores.h"
#include "src/memo.h"
#include "src/mixed_hash.h"

namespace nervanagpu::conv_detail {
namespace {

struct Key {
  ConvPass pass;
  ConvProblem problem;
  bool operator==(const Key&) const = default;
};

struct Hash {
  std::size_t operator()(const Key& key) const { return hash_of(key.pass, key.problem); }
};

Known find_out(ConvPass pass, const ConvProblem& p) {
  check(pass, p);
  Known out;
  if (byte_results::asked(p)) {
    out.on_tensor_cores = tensor_cores::takes(pass, p);
    out.workspace = byte_results::workspace(p);
    if (out.on_tensor_cores) out.workspace = std::max(out.workspace, tensor_cores::workspace(pass, p));
    return out;
  }
  out.depthwise = depthwise::takes(pass, p);
  out.on_tensor_cores = tensor_cores::takes(pass, p);
  out.workspace = plain_workspace(pass, p);
  if (out.on_tensor_cores) {
    out.workspace = std::max(out.workspace, tensor_cores::workspace(pass, p));
    out.sum_parts = tensor_cores::most_parts(pass, p);
  }
  if (out.depthwise) out.workspace = std::max(out.workspace, depthwise::workspace(pass, p));
  if (const auto cells = by_cells::cells_of(pass, p)) {
    out.by_cells = true;
    out.workspace = std::max(out.workspace, by_cells::workspace(*cells, p));
  }
  if (out.on_tensor_cores && !out.depthwise && !out.by_cells && pieces::asked(p) && p.layout == Layout::channels_last) {
    const two_pieces::Way way = two_pieces::way_of(pass, p);
    out.in_two_pieces = way.two && !way.windows;  // of lines they are nobody else's
  }
  return out;
}

}  // namespace

std::size_t hash_of(ConvPass pass, const ConvProblem& p) {
  MixedHash h;
  h.add(static_cast<std::uint64_t>(pass) | static_cast<std::uint64_t>(p.layout) << 8 |
        static_cast<std::uint64_t>(p.x_type) << 16 | static_cast<std::uint64_t>(p.w_type) << 24 |
        static_cast<std::uint64_t>(p.y_type) << 32 | static_cast<std::uint64_t>(p.precision) << 40);
  for (const std::int64_t v : {p.n, p.c, p.k, p.groups, p.x_pitch, p.y_pitch}) h.add(v);
  for (const auto* three : {&p.in, &p.filter, &p.pad, &p.stride, &p.dilation}) h.add_each(*three);
  return h.value();
}

Known known(ConvPass pass, const ConvProblem& p) {
  static auto& all = *new Memo<Key, Known, Hash>;
  return all.get({pass, p}, [&] { return find_out(pass, p); });
}

}  // namespace nervanagpu::conv_detail

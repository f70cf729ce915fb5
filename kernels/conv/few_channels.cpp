#include "kernels/conv/few_channels.h"

#include <algorithm>

#include "kernels/conv/gather/gconv_choice.h"
#include "kernels/conv/halo/halo_choice.h"
#include "kernels/conv/halo/halo_update_choice.h"
#include "kernels/conv/halo/resident_choice.h"
#include "kernels/conv/product.h"
#include "src/ceil_div.h"

namespace nervanagpu::conv_detail::gconv {
namespace {

// The pass as one product of a gathered matrix.
struct Product {
  Gather taps;
  Pixels gathered;
  GemmProblem g;
  double bytes = 0;
};
Product product_of(ConvPass pass, const ConvProblem& p) {
  Product out;
  out.taps = gathers_of(pass, p).front();
  out.gathered = gathered(pass, p);
  const bool update = pass == ConvPass::update;
  const std::int64_t c = out.gathered.channels;
  const std::int64_t columns = out.taps.all_taps() * c;
  const std::int64_t other = (pass == ConvPass::bprop ? p.c : p.k) / p.groups;
  const std::int64_t rows = p.n * out.taps.count();
  out.bytes = 2.0 * (static_cast<double>(out.gathered.n * out.taps.pixels(out.gathered.size)) * static_cast<double>(c) +
                     static_cast<double>(other) * static_cast<double>(columns + rows));
  GemmProblem& g = out.g;
  g.a_type = g.b_type = p.x_type;
  g.c_type = p.w_type;
  g.m = update ? other : rows;
  g.n = update ? columns : other;
  g.k = update ? rows : columns;
  return out;
}

double cost_of(ConvPass pass, const Product& p) {
  const char letter = pass == ConvPass::update ? 'u' : 'f';
  return least_microseconds(letter, p.g, usual_run(p.gathered.channels), p.bytes) +
         (pass == ConvPass::bprop ? kFitted.copy : 0);
}

constexpr std::int64_t kBlock = 64;  // of k
constexpr std::int64_t kFew = 8;     // below, the copy engine would read more than there is
constexpr double kNever = 1e12;      // microseconds

// What a pass takes here, resident.sass in gconv.sass's place where it can, and where whole blocks of channels are read.
struct Ways {
  double gathered = 0, others = 0;
};
Ways ways_of(ConvPass pass, const ConvProblem& p) {
  const Product ours = product_of(pass, p);
  const std::int64_t c = ours.gathered.channels;
  const bool update = pass == ConvPass::update;
  Ways out = {cost_of(pass, ours), kNever};
  const halo::Work rows = {
      pass == ConvPass::bprop ? 'b' : 'f', ours.taps, ours.gathered.size, p.n, c, ours.g.n, ours.bytes};
  if (!update && p.groups == 1) {
    halo::Work w = rows;
    w.pass = 'f';
    if (const auto keeps = resident::choose(w, hgemm::kProcessors))
      out.gathered = std::min(out.gathered, keeps->microseconds + (pass == ConvPass::bprop ? kFitted.copy : 0));
  }
  if (c < kFew || !gathers(pass, p)) return out;
  const char letter = update ? 'u' : rows.pass;
  GemmProblem g = ours.g;
  (update ? g.n : g.k) = ours.taps.all_taps() * ceil_div(c, kBlock) * kBlock;
  const hconv::Work work = {letter, g, p.c / p.groups, p.k / p.groups, ours.bytes, 1, update};
  out.others = p.groups == 1 ? hconv::least_microseconds(work) : hconv::microseconds(work);
  if (update && p.groups == 1) {
    const auto shared = halo_update::choose({ours.taps, ours.gathered.size, p.n, c, p.k, ours.bytes});
    if (shared) out.others = std::min(out.others, shared->microseconds);
  } else if (!update) {
    if (const auto shared = halo::choose(rows, hgemm::kProcessors))
      out.others = std::min(out.others, shared->microseconds);
  }
  if (product::possible(p)) out.others = std::min(out.others, product::microseconds(product::shape_of(pass, p)));
  if (c % kFew != 0) out.others += copy_microseconds(2.0 * static_cast<double>(ours.gathered.count() * c), kFitted);
  return out;
}

}  // namespace

double microseconds(ConvPass pass, const ConvProblem& p) {
  const Ways ways = ways_of(pass, p);
  return std::min(ways.gathered, ways.others);
}

bool gathers_rows(ConvPass pass, const ConvProblem& p) {
  const std::int64_t c = gathered(pass, p).channels;
  if (c % kBlock == 0 || p.groups > kMostGroups || !possible(pass, p)) return false;
  if (p.groups > 1 && pass == ConvPass::update && p.k / p.groups % kFew != 0) return false;  // where dy's rows begin
  if (c < kFew) return true;
  const Ways ways = ways_of(pass, p);
  return ways.gathered < ways.others;
}

}  // namespace nervanagpu::conv_detail::gconv

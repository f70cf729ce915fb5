#include "kernels/conv/tensor_cores.h"

#include <algorithm>
#include <vector>

#include "kernels/conv/bytes.h"
#include "kernels/conv/few_channels.h"
#include "kernels/conv/implicit/byte_results.h"
#include "kernels/conv/pass/pass.h"

namespace nervanagpu::conv_detail::tensor_cores {

bool there(const Registry& registry) {
  return !registry.of_op("hconv").empty();
}

namespace {

// 16-bit floats, or fprop of bytes.
bool takes_types(ConvPass pass, const ConvProblem& p) {
  if (sgemm::half(p.x_type)) return p.w_type == p.x_type && p.y_type == p.x_type;
  return pass == ConvPass::fprop && sgemm::byte(p.x_type) && p.w_type == Dtype::int8 && p.y_type == Dtype::int32;
}

// Of float32 from pieces. What lies with its channels first is copied for these, too.
double pieces_microseconds(ConvPass pass, const ConvProblem& p) {
  constexpr double kCopy = 2.5;  // microseconds, beside those of its bytes
  double copies = 0;
  if (p.layout == Layout::batch_last) {
    const auto elements = static_cast<double>(p.x_elements() + p.w_elements() + p.y_elements());
    copies = 3 * kCopy + 8 * elements / pieces::kMemory;
  }
  return copies + (two_pieces::chosen(pass, p) ? two_pieces::microseconds(pass, p)
                                               : windows::three_pieces(pass, p).microseconds);
}

bool takes_pieces(ConvPass pass, const ConvProblem& p) {
  return pieces_microseconds(pass, p) < pieces::rival_microseconds(pass, p);
}

}  // namespace

bool takes(ConvPass pass, const ConvProblem& p) {
  if (byte_results::asked(p)) {  // which kernels of bytes store, but not those of cells
    constexpr std::int64_t kFew = 16;
    const ConvProblem sums = byte_results::sums_of(p);
    return pass == ConvPass::fprop && p.layout == Layout::channels_last && takes(pass, sums) &&
           (p.c >= kFew || !cells::pays(pass, sums));
  }
  if (pieces::asked(p)) return product::of_float32(pass, p) || takes_pieces(pass, p);
  if (!takes_types(pass, p)) return false;
  const bool few = gconv::gathers_rows(pass, p);
  if (p.groups > gconv::kMostGroups && p.c == p.groups) return false;  // one channel a group
  const Packs packs = few ? Packs{p.groups, 1, p.c / p.groups, p.k / p.groups} : packs_of(pass, p);
  const std::int64_t c = packs.c;
  const std::int64_t k = packs.k;
  if (!few && !in_columns(pass, p) && !gathers(pass, p)) return false;
  const auto out = p.out();
  const std::int64_t spots = pass == ConvPass::bprop ? p.in[0] * p.in[1] * p.in[2] : out[0] * out[1] * out[2];
  const std::int64_t taps = p.filter[0] * p.filter[1] * p.filter[2];
  const std::int64_t m = pass == ConvPass::update ? k : p.n * spots;
  const std::int64_t n = pass == ConvPass::fprop ? k : pass == ConvPass::bprop ? c : taps * eights(c) * kEight;
  const auto small = [](std::int64_t v) { return v < kLimit - 256; };
  if (!small(m) || !small(n) || !small(p.n * spots) || !small(taps * eights(std::max(c, k)) * kEight)) return false;
  if (pass == ConvPass::update && (!small(m * n) || !small(m * n * packs.count))) return false;
  if (ceil_div(m, 128) * ceil_div(n, 64) >= (std::int64_t{1} << 29) / packs.count) return false;
  return !sgemm::byte(p.x_type) || cells::pays(pass, p) || !bytes::chains_are_faster(p);
}

double microseconds(ConvPass pass, const ConvProblem& p) {
  const double strict = pieces::strict_microseconds(pass, p);
  if (pieces::asked(p)) return std::min(pieces_microseconds(pass, p), strict);
  if (!takes(pass, p)) return strict;
  double sum = 0;
  for (const Modelled& launch : modelled(pass, p)) sum += launch.microseconds(kFitted);
  return sum;
}

namespace {

bool strided(ConvPass pass, const ConvProblem& p) {
  return pass == ConvPass::bprop && p.stride != decltype(p.stride){1, 1, 1};
}

// Or need not: no beta multiplies what no tap reaches.
bool reaches_all(ConvPass pass, const ConvProblem& p, const Epilogue& e) {
  if (!strided(pass, p) || e.beta == 0 || e.beta == 1) return true;
  const std::vector<Gather> all = *gathers(pass, p);
  std::int64_t reached = 0;
  for (const Gather& g : all) reached += g.count();
  return reached == p.in[0] * p.in[1] * p.in[2];
}

bool fits_pieces(ConvPass pass, const ConvProblem& p, const Epilogue& e) {
  if (e.beta != 0 && !pieces::takes_beta(pass, p)) return false;
  if (pass == ConvPass::update && e.rounding.stochastic && piece_cells::choose(pass, p))
    return false;  // copies know it not
  const bool between = apart(p, roles_of(pass).out);
  if (strided(pass, p) && (between || e.rounding.stochastic)) return false;
  if (between && e.rounding.stochastic) return false;
  return reaches_all(pass, p, e);
}

}  // namespace

bool fits(ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& e, const Forced& forced) {
  const Roles roles = roles_of(pass);
  const bool last = p.layout == Layout::channels_last;
  const auto readable = [&](Role role, std::uint64_t address) {
    return !last || pitch_of(p, role) % unit_of(type_of(p, role)) != 0 || address % 16 == 0;
  };
  if (pieces::asked(p)) {
    Epilogue own = e;
    if (!last) own.rounding = {};  // the last copy's
    const bool unforced = forced.kernel.empty() && forced.splits == 0;
    if (product::is_forced(forced) || (unforced && product::of_float32(pass, p, e)))
      return !own.rounding.stochastic || !apart(p, roles.out);
    return fits_pieces(pass, p, own);
  }
  const bool few = gconv::gathers_rows(pass, p);
  if (few) {
    const Role role = pass == ConvPass::update ? Role::x : roles.in1;
    const std::int64_t channels = (role == Role::x ? p.c : p.k) / p.groups;
    const std::int64_t columns = p.filter[0] * p.filter[1] * p.filter[2] * channels;
    const std::uint64_t address = last ? (role == roles.in1 ? pointers.in1 : pointers.in2) : 0;
    const Pixels t = {.address = address, .channels = channels, .pitch = pitch_of(p, role)};
    if (!gconv::has_room(columns, gconv::run_of(t))) return false;
    if (pass == ConvPass::update && !readable(Role::y, pointers.in1)) return false;
  } else if (!readable(roles.in1, pointers.in1) || !readable(roles.in2, pointers.in2)) {
    return false;
  }
  if (!few && in_columns(pass, p) && pass == ConvPass::fprop && last && columns_of(p).pitch == columns_of(p).columns) {
    if (pointers.in2 % 16 != 0) return false;  // w is read as it lies
  }
  if (!reaches_all(pass, p, e)) return false;
  if (byte_results::asked(p) && e.rounding.stochastic && apart(p, Role::y)) return false;
  const std::int64_t columns = pass == ConvPass::bprop ? p.c / p.groups : p.k / p.groups;
  return !e.rounding.stochastic || p.groups == 1 || p.groups > gconv::kMostGroups || !last || columns % 4 == 0 ||
         pass == ConvPass::update;
}

std::size_t workspace(ConvPass pass, const ConvProblem& p, const Forced& forced) {
  const ConvPointers none;
  std::size_t most = 0;
  for (const bool stochastic : {false, true}) {
    Epilogue e;
    e.rounding.stochastic = stochastic;
    Pass counted(nullptr, pass, p, none, e, {}, forced);
    counted.run();
    most = std::max(most, counted.workspace());
  }
  return most;
}

std::vector<Modelled> modelled(ConvPass pass, const ConvProblem& p, const Forced& forced) {
  Pass all(nullptr, pass, p, {}, {}, {}, forced);
  std::vector<Modelled> out;
  all.run(&out);
  return out;
}

std::int64_t most_parts(ConvPass pass, const ConvProblem& p, const Forced& forced) {
  if (pass == ConvPass::update) return 0;
  Epilogue e;
  e.sums.sum = 1;  // as if there were one
  Pass counted(nullptr, pass, p, {}, e, {}, forced);
  counted.run();
  return counted.most_parts();
}

Made queue(Device& device, ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& epilogue,
           const Stream& stream, const Forced& forced) {
  Pass all(&device, pass, p, pointers, epilogue, stream, forced);
  all.run();
  return {all.masked(), all.parts()};
}

}  // namespace nervanagpu::conv_detail::tensor_cores

#include "kernels/conv/tensor_cores.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "kernels/conv/cells.h"
#include "kernels/conv/columns.h"
#include "kernels/conv/gconv_choice.h"
#include "kernels/conv/halo_choice.h"
#include "kernels/conv/halo_update_choice.h"
#include "kernels/conv/hconv_choice.h"
#include "kernels/conv/implicit_gemm.h"
#include "kernels/conv/packs.h"
#include "kernels/conv/problem.h"
#include "kernels/conv/resident_choice.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/hgemm.h"
#include "kernels/gemm/relu_mask.h"
#include "kernels/gemm/types.h"
#include "kernels/split_sum/split_sum.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/nn.hpp"
#include "src/ceil_div.h"
#include "src/half.h"
#include "src/values.h"

namespace nervanagpu::conv_detail::tensor_cores {
namespace {

constexpr std::int64_t kEight = 8;   // channels of 16 bytes
constexpr std::int64_t kBlock = 64;  // of k, of 16-bit operands
constexpr std::int64_t kBox = 64;    // filters of a box
constexpr std::int64_t kLimit = std::int64_t{1} << 31;
constexpr std::int64_t kMaskWord = 32;  // bits

std::int64_t eights(std::int64_t channels) {
  return ceil_div(channels, kEight) * kEight;
}

std::int64_t width_of(Dtype type) {
  return static_cast<std::int64_t>(size_of(type));
}

// Elements of 16 bytes, where the copy engine reads.
std::int64_t unit_of(Dtype type) {
  return 16 / width_of(type);
}

std::uint32_t bits_of(float v, Dtype type) {
  return type == Dtype::float16    ? half_bits(v)
         : type == Dtype::bfloat16 ? bfloat_bits(v)
                                   : std::bit_cast<std::uint32_t>(v);
}

// As many bytes, two at a time.
std::int64_t pairs(std::int64_t elements, Dtype type) {
  return ceil_div(elements * width_of(type), 2);
}

// Memory of the workspace, from its start; nothing is given back but down to a mark.
class Arena {
 public:
  explicit Arena(std::uint64_t base) : base_(base) {}
  std::uint64_t take(std::int64_t bytes) {
    constexpr std::size_t kAlign = 256;
    const std::uint64_t at = base_ + used_;
    used_ += (static_cast<std::size_t>(bytes) + kAlign - 1) / kAlign * kAlign;
    most_ = std::max(most_, used_);
    return at;
  }
  [[nodiscard]] std::size_t mark() const { return used_; }
  void release(std::size_t mark) { used_ = mark; }
  [[nodiscard]] std::size_t most() const { return most_; }

 private:
  std::uint64_t base_;
  std::size_t used_ = 0, most_ = 0;
};

// A pass: what it copies and launches. Without a device nothing is launched, and only the workspace counted.
class Pass {
 public:
  Pass(Device* device, ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& epilogue,
       const Stream& stream, const Forced& forced)
      : device_(device),
        pass_(pass),
        p_(p),
        at_(pointers),
        e_(epilogue),
        stream_(stream),
        forced_(forced),
        arena_(pointers.workspace) {}

  void run();
  [[nodiscard]] bool masked() const { return masked_; }
  [[nodiscard]] std::size_t workspace() const { return arena_.most(); }

 private:
  // A launch of a pass: of a group, or of hconv.sass: of several packs of groups, each of which is such a product.
  struct Launch {
    char pass = 'f';
    Gather gather;
    TensorMap a, b;
    GemmProblem gemm;
    std::int64_t divisor = 1;   // hconv.sass's depth
    std::int64_t channels = 0;  // update: of each tap, where these are no blocks of 64; else 0
    double bytes = 0;
    std::int64_t packs = 1;
    std::int64_t group_channels = 0, group_pictures = 0, group_filters = 0;  // hconv.sass's
    std::int64_t block = 0;  // update: rows of the sums that are a group's
    bool deep = false;       // maps of rank 5
    Pixels gathered;         // by gconv.sass; of 0 channels: hconv.sass
    // What is gathered, and the filters; u: dy. f, b of gconv.sass: not said.
    Pixels x, w;
  };

  [[nodiscard]] Shape shape(Role role) const { return shape_of(p_, role); }
  [[nodiscard]] Lying lies(Role role) const { return conv_detail::lies(p_, role); }
  Pixels operand(Role role, std::uint64_t address, std::int64_t unit);
  Pixels operand(Role role, std::uint64_t address) { return operand(role, address, unit_of(type_of(p_, role))); }
  Pixels operand_in_packs(Role role, std::uint64_t address, const Packs& packs);
  [[nodiscard]] Pixels group_of(Pixels t, std::int64_t g) const;
  void copy(std::uint64_t from, Dtype from_type, const Lying& from_lies, std::uint64_t to, Dtype to_type,
            const Lying& to_lies, const Rounding& rounding = {});
  [[nodiscard]] GemmProblem epilogue(std::int64_t group, std::int64_t columns) const;
  void positions(const Pixels& gathered, const Pixels& w, const Pixels& out);
  [[nodiscard]] std::optional<cells::Cells> in_cells() const;
  void put_mask(GemmProblem& g, std::int64_t row, std::int64_t group) const;
  void widen_bias();
  Launch some_positions(const Gather& f, const Pixels& gathered, const Pixels& w, const Pixels& out, const Packs& packs,
                        std::int64_t first, std::int64_t count) const;
  [[nodiscard]] hconv::Work work_of(const Launch& l, const Packs& packs) const;
  [[nodiscard]] bool apart_pays(const Gather& f, const Pixels& gathered, const Pixels& w, const Pixels& out,
                                const Packs& packs) const;
  Pixels block_diagonal(const Pixels& w, const Packs& packs);
  void update(const Pixels& dy, const Pixels& x, const Pixels& out);
  [[nodiscard]] std::optional<halo::Choice> shares_taps(const Launch& l, int multiprocessors) const;
  void launch_halo(const Launch& l, const halo::Choice& choice);
  [[nodiscard]] static halo_update::Work shared_work(const Launch& l);
  [[nodiscard]] std::optional<halo_update::Choice> shares_products(const Launch& l) const;
  void launch_halo_update(const Launch& l, const halo_update::Choice& choice);
  [[nodiscard]] std::optional<resident::Choice> keeps_filters(const Launch& l, int multiprocessors) const;
  void launch_resident(const Launch& l, const resident::Choice& choice);
  void launch(const Launch& l);
  Pixels filters(std::int64_t group, std::int64_t rows, std::int64_t channels);
  void cells_fprop(const cells::Cells& c, const Pixels& out);
  void few_positions(const Pixels& gathered, const Pixels& out);
  void few_update(const Pixels& dy, const Pixels& x, const Pixels& out);
  std::uint64_t padded(const Columns& c);
  std::uint64_t matrix(const Columns& c);
  void gather(const Columns& c, std::uint64_t pictures, std::int64_t first, std::int64_t count, std::uint64_t to);
  void multiply(GemmProblem g);
  void columns_fprop(const Pixels& out);
  void columns_update(const Pixels& dy, const Pixels& out);

  Device* device_;
  ConvPass pass_;
  const ConvProblem& p_;
  ConvPointers at_;
  Epilogue e_;
  Stream stream_;
  Forced forced_;
  Arena arena_;
  bool masked_ = true;  // by the kernels' epilogues
};

void Pass::copy(std::uint64_t from, Dtype from_type, const Lying& from_lies, std::uint64_t to, Dtype to_type,
                const Lying& to_lies, const Rounding& rounding) {
  if (device_ == nullptr) return;
  Tensor target = Tensor::wrap(to, to_lies.shape, to_lies.strides, to_type);
  convert(Tensor::wrap(from, from_lies.shape, from_lies.strides, from_type), target, rounding, stream_);
}

// With channels last and pixels of multiples of `unit` elements: as it lies, or a copy.
Pixels Pass::operand(Role role, std::uint64_t address, std::int64_t unit) {
  const Shape s = shape(role);
  Pixels t = {address, type_of(p_, role), s[4], pitch_of(p_, role), {s[3], s[2], s[1]}, s[0]};
  if (p_.layout == Layout::channels_last && t.pitch % unit == 0) return t;
  t.pitch = ceil_div(s[4], unit) * unit;
  t.address = arena_.take(width_of(t.type) * t.count() * t.pitch);
  copy(address, t.type, lies(role), t.address, t.type, lying(Layout::channels_last, s, t.pitch));
  return t;
}

// The same, with the channels of each pack at a multiple of 16 bytes: zeros may lie between.
Pixels Pass::operand_in_packs(Role role, std::uint64_t address, const Packs& packs) {
  const Shape s = shape(role);
  const std::int64_t channels = s[4] / packs.count;
  const Dtype type = type_of(p_, role);
  if (packs.count == 1 || channels % unit_of(type) == 0) return operand(role, address);
  const std::int64_t pack = ceil_div(channels, unit_of(type)) * unit_of(type);
  Pixels t = {0, type, packs.count * pack, packs.count * pack, {s[3], s[2], s[1]}, s[0]};
  t.address = arena_.take(width_of(type) * t.count() * t.pitch);
  if (device_ == nullptr) return t;
  device_->fill(t.address, 0, static_cast<unsigned>(width_of(type)), static_cast<std::size_t>(t.count() * t.pitch),
                stream_.handle());
  Lying from = lies(role);
  Lying to = lying(Layout::channels_last, s, t.pitch);
  for (Lying* l : {&from, &to}) {
    l->shape = {s[0], s[1], s[2], s[3], packs.count, channels};
    l->strides.push_back(l->strides[4]);
  }
  from.strides[4] *= channels;
  to.strides[4] = pack;
  copy(address, type, from, t.address, type, to);
  return t;
}

Pixels Pass::group_of(Pixels t, std::int64_t g) const {
  t.channels /= p_.groups;
  t.address += static_cast<std::uint64_t>(width_of(t.type) * g * t.channels);
  return t;
}

// alpha, beta, bias, relu and rounding of a group's columns.
GemmProblem Pass::epilogue(std::int64_t group, std::int64_t columns) const {
  GemmProblem g;
  g.a_type = type_of(p_, roles_of(pass_).in1);
  g.b_type = type_of(p_, roles_of(pass_).in2);
  g.n = columns;
  g.alpha = e_.alpha;
  g.beta = e_.beta;
  g.relu = e_.relu;
  g.bias_type = at_.bias_type;
  g.bias = at_.bias == 0 ? 0 : at_.bias + static_cast<std::uint64_t>(group * columns) * size_of(at_.bias_type);
  g.rounding = e_.rounding;
  return g;
}

// Of a group's rows from `row` on; whole words alone.
void Pass::put_mask(GemmProblem& g, std::int64_t row, std::int64_t group) const {
  if (!masked_ || e_.mask == 0) return;
  g.ld_mask = e_.ld_mask;
  g.mask = e_.mask + static_cast<std::uint64_t>(4 * (row * g.ld_mask + group * g.n / kMaskWord));
  if (pass_ == ConvPass::bprop) g.activation = GemmActivation::drelu;
}

// halo.sass's variant, where that is faster: a function of the problem alone.
std::optional<halo::Choice> Pass::shares_taps(const Launch& l, int multiprocessors) const {
  if (l.pass == 'u' || l.packs > 1 || !sgemm::half(l.gemm.c_type) || forced_.splits > 1) return std::nullopt;
  if (!forced_.kernel.empty() && !halo::is_forced(forced_)) return std::nullopt;
  const halo::Work work = {l.pass, l.gather, l.x.size, l.x.n, l.x.channels, l.gemm.n, l.bytes};
  std::optional<halo::Choice> out = halo::choose(work, hgemm::kProcessors, forced_);
  if (halo::is_forced(forced_)) {
    if (!out) throw InvalidArgument("conv: no kernel " + forced_.kernel + " for this");
    return out;
  }
  if (!out || out->microseconds >= hconv::microseconds(work_of(l, packs_of(pass_, p_)))) return std::nullopt;
  return multiprocessors == hgemm::kProcessors ? out : halo::choose(work, multiprocessors);
}

hconv::Work Pass::work_of(const Launch& l, const Packs& packs) const {
  return {l.pass, l.gemm, pairs(packs.c, p_.x_type), pairs(packs.k, p_.x_type), l.bytes, l.packs};
}

void Pass::launch_halo(const Launch& l, const halo::Choice& choice) {
  GemmProblem g = l.gemm;
  g.m = choice.frame.places(l.x.n);
  const std::int64_t channels = l.pass == 'f' ? l.w.channels : l.x.channels;  // cells' filters have whole products
  g.k = ceil_div(channels, kBlock) * kBlock;
  Values v;
  v.map(device_->encode_tensor_map(halo::patch_map(l.x, l.gather, choice)));
  v.map(device_->encode_tensor_map(halo::filters_map(l.pass, l.w)));
  hgemm::put_tiles(v, g, choice.tile, 1, 1);
  halo::put(v, l.pass, l.gather, choice, channels);
  const Kernel* kernel = halo::find(device_->registry(), l.pass, g.a_type, g.c_type, choice.tile);
  v.launch(*device_, *kernel, hgemm::tiles_grid(g, choice.tile, 1, device_->info().multiprocessors), stream_.handle());
}

// resident.sass's variant instead of gconv.sass's, where that is faster. The sums are the same, product for product: so it may
// depend on where x lies, and on the GPU.
std::optional<resident::Choice> Pass::keeps_filters(const Launch& l, int multiprocessors) const {
  const bool forced = resident::is_forced(forced_);
  if (!forced && (!forced_.kernel.empty() || forced_.splits > 1)) return std::nullopt;
  const Pixels& x = l.gathered;
  if (!sgemm::half(l.gemm.c_type) || x.pitch % kEight != 0 || x.address % 16 != 0) return std::nullopt;
  const halo::Work work = {'f', l.gather, x.size, x.n, x.channels, l.gemm.n, l.bytes};
  const std::optional<resident::Choice> out = resident::choose(work, multiprocessors, forced_);
  if (forced && !out) throw InvalidArgument("conv: no kernel " + forced_.kernel + " for this");
  if (forced || !out) return out;
  const std::int64_t run = gconv::usual_run(x.channels);
  if (gconv::choose(l.pass, l.gemm, run, l.bytes, multiprocessors, {}).splits > 1) return std::nullopt;
  return out->microseconds < gconv::microseconds(pass_, p_) ? out : std::nullopt;
}

void Pass::launch_resident(const Launch& l, const resident::Choice& choice) {
  GemmProblem g = l.gemm;
  g.m = choice.frame.places(l.gathered.n);
  g.k = kBlock;
  TensorMap b = l.b;
  b.box[1] = static_cast<std::uint32_t>(choice.tile.bn);
  Values v;
  v.map(device_->encode_tensor_map(resident::patch_map(l.gathered, l.gather, choice)));
  v.map(device_->encode_tensor_map(b));
  hgemm::put_tiles(v, g, choice.tile, 1, 1);
  resident::put(v, l.gather, choice, l.gemm.k / l.gather.all_taps());
  const Kernel* kernel = resident::find(device_->registry(), g.a_type, choice);
  v.launch(*device_, *kernel, hgemm::tiles_grid(g, choice.tile, 1, device_->info().multiprocessors), stream_.handle());
}

halo_update::Work Pass::shared_work(const Launch& l) {
  return {l.gather, l.x.size, l.x.n, l.x.channels, l.gemm.m, l.bytes};
}

// halo_update.sass's cut, where it is asked for by name: no GPU has timed it yet.
std::optional<halo_update::Choice> Pass::shares_products(const Launch& l) const {
  if (l.pass != 'u' || p_.groups > 1 || l.gathered.channels != 0 || !halo_update::is_forced(forced_))
    return std::nullopt;
  std::optional<halo_update::Choice> out = halo_update::choose(shared_work(l), forced_);
  if (!out) throw InvalidArgument("conv: no kernel " + forced_.kernel + " for this");
  return out;
}

// Sums of all splits in the workspace, and their sum.
void Pass::launch_halo_update(const Launch& l, const halo_update::Choice& choice) {
  const halo_update::Work work = shared_work(l);
  const std::size_t mark = arena_.mark();
  GemmProblem g = l.gemm;
  g.workspace = arena_.take(choice.sums_bytes(work));
  arena_.release(mark);
  if (device_ == nullptr) return;
  Values v;
  v.map(device_->encode_tensor_map(halo_update::dy_map(l.w, l.gather, choice)));
  v.map(device_->encode_tensor_map(halo_update::x_map(l.x, l.gather, choice)));
  halo_update::put(v, work, choice, g.workspace, l.w, l.x);
  const Kernel* kernel = halo_update::find(device_->registry(), g.a_type, choice);
  v.launch(*device_, *kernel, halo_update::grid(work, choice), stream_.handle());
  split_sum::Sum sum = sgemm::sum_of(g, choice.splits());
  sum.rows = work.filters * work.taps.all_taps();
  sum.cols = sum.ld = work.channels;
  sum.pitch = choice.depth;
  const split_sum::Plan end = split_sum::plan(device_->registry(), sum);
  end.values.launch(*device_, *end.kernel, end.grid, stream_.handle());
}

void Pass::launch(const Launch& l) {
  if (const auto products = shares_products(l)) {
    launch_halo_update(l, *products);
    return;
  }
  const int multiprocessors = device_ == nullptr ? 1 : device_->info().multiprocessors;
  const bool few = l.gathered.channels != 0;
  const std::int64_t forced_run = few ? gconv::forced_run(forced_) : 0;
  const std::int64_t run = forced_run != 0 ? forced_run : few ? gconv::run_of(l.gathered) : 0;
  const std::optional<halo::Choice> shared = few ? std::nullopt : shares_taps(l, multiprocessors);
  if (shared) {
    if (device_ != nullptr) launch_halo(l, *shared);
    return;
  }
  if (few && l.pass == 'f') {
    const std::optional<resident::Choice> choice = keeps_filters(l, multiprocessors);
    if (choice) {
      if (device_ != nullptr) launch_resident(l, *choice);
      return;
    }
  }
  const hconv::Choice choice =
      few ? gconv::choose(l.pass, l.gemm, gconv::usual_run(l.gathered.channels), l.bytes, multiprocessors, forced_)
          : hconv::choose(work_of(l, packs_of(pass_, p_)), multiprocessors,
                          halo::is_forced(forced_) ? Forced{} : forced_);  // float32 results are not halo.sass's
  GemmProblem g = l.gemm;
  const bool sums = choice.splits > 1 || l.channels != 0;  // are left in the workspace
  const std::size_t mark = arena_.mark();
  if (sums) {
    g.workspace = arena_.take(l.packs * choice.splits * g.m * g.n * 4);
    if (g.mask != 0) masked_ = false;  // split_sum knows none
    g.mask = 0;
    g.activation = GemmActivation::none;
  }
  arena_.release(mark);
  if (device_ == nullptr) return;
  split_sum::Sum sum = sgemm::sum_of(g, choice.splits);
  sum.groups = l.packs;
  sum.group_stride = g.stride_c;
  if (l.channels != 0) {
    const std::int64_t taps = l.gather.all_taps();
    sum.rows = g.m * taps;
    sum.cols = sum.ld = l.channels;
    sum.pitch = g.n / taps;
    sum.block = l.block * taps;
  }
  if (sums && choice.splits == 1) {
    g.c = g.workspace;
    g.c_type = Dtype::float32;
    g.ldc = g.n;
    g.stride_c = g.m * g.n;
    g.alpha = 1.0F;
    g.beta = 0.0F;
    g.rounding = {};
  }
  TensorMap b = l.b;
  if (few && l.pass == 'f') b.box[1] = static_cast<std::uint32_t>(choice.tile.bn);
  Values v;
  v.map(device_->encode_tensor_map(few && l.pass == 'f' ? b : l.a));
  v.map(device_->encode_tensor_map(few && l.pass == 'u' ? l.a : b));
  hgemm::put_tiles(v, g, choice.tile, choice.splits, l.divisor, l.packs);
  const Gather& f = l.gather;
  const Dtype result = sums ? sgemm::sums_of(g) : g.c_type;
  const Kernel* kernel = few ? gconv::find(device_->registry(), l.pass, g.a_type, result, run, choice.tile)
                             : hconv::find(device_->registry(), l.pass, g.a_type, result, choice.tile);
  if (few) {
    const std::int64_t tile = l.pass == 'f' ? kBlock : choice.tile.bn;
    gconv::put(v, f, l.gathered, volume(p_), run, ceil_div(f.all_taps() * l.gathered.channels, tile) * tile);
  } else {
    const std::int64_t shift = l.deep ? 5 : 8;  // of the offsets along height
    v.u32(l.deep ? 1 : 0).divisor(f.positions[0]).divisor(f.positions[1]).divisor(f.positions[2]);
    v.each_s32(f.step).each_s32(f.low).divisor(f.taps[0]).divisor(f.taps[1]);
    v.u32(f.move[0]).u32(f.move[1] << shift).u32(l.deep ? f.move[2] << 2 * shift : 0);
    v.s32(f.tap0).each_s32(f.tap_step);
    v.divisor(choice.splits).u32(l.group_channels).u32(l.group_pictures).u32(l.group_filters);
  }
  v.launch(*device_, *kernel, hgemm::tiles_grid(g, choice.tile, choice.splits, multiprocessors, l.packs),
           stream_.handle());
  if (!sums) return;
  const split_sum::Plan end = split_sum::plan(device_->registry(), sum);
  end.values.launch(*device_, *end.kernel, end.grid, stream_.handle());
}

// `count` packs from `first` on. Where the copy engine can tell their channels from those of the next ones, these are zeros
// to it; else w's zeros meet them.
Pass::Launch Pass::some_positions(const Gather& f, const Pixels& gathered, const Pixels& w, const Pixels& out,
                                  const Packs& packs, std::int64_t first, std::int64_t count) const {
  const std::int64_t width = width_of(out.type);
  const std::int64_t from = width_of(gathered.type);
  const std::int64_t block = block_of(gathered.type);
  const std::int64_t columns = out.channels / packs.count;
  Launch l;
  l.pass = pass_ == ConvPass::fprop ? 'f' : 'b';
  l.gather = f;
  l.deep = volume(p_);
  l.packs = count;
  l.x = gathered;
  l.x.channels /= packs.count;
  l.x.address += static_cast<std::uint64_t>(from * first * l.x.channels);
  l.w = w;  // filters of a pack, whose channels are the pack's alone
  l.w.n /= packs.count;
  l.w.address += static_cast<std::uint64_t>(from * first * l.w.count() * w.pitch);
  constexpr std::uint32_t kRows = 128;
  std::optional<Gather> over;
  if (count > 1 && l.x.channels % block != 0) over = over_pictures(f, p_, l.x.size);
  if (over) {
    l.gather = *over;
    l.deep = true;
    l.group_pictures = 1;
    l.a = groups_map(l.x, *over, count, kRows);
  } else {
    Pixels all = l.x;
    all.channels *= count;
    l.group_channels = l.x.channels;
    l.a = columns_map(all, f, l.deep, kRows);
  }
  l.b = filters_map(l.w, kBox, count);
  l.gemm = epilogue(first, columns);
  l.gemm.m = p_.n * f.count();
  l.gemm.k = ceil_div(l.x.channels, block) * f.all_taps() * block;
  l.gemm.c = out.address + static_cast<std::uint64_t>(first * columns * width);
  l.gemm.c_type = out.type;
  l.gemm.ldc = out.pitch;
  l.gemm.stride_c = columns;
  put_mask(l.gemm, 0, first);
  l.gemm.rounding.offset += static_cast<std::uint64_t>(first * columns) / 4;
  l.divisor = f.all_taps();
  l.bytes = static_cast<double>(count) *
            static_cast<double>(from * l.x.count() * l.x.channels + from * l.w.n * f.all_taps() * w.channels +
                                width * l.gemm.m * columns);
  return l;
}

// halo.sass takes packs one by one.
bool Pass::apart_pays(const Gather& f, const Pixels& gathered, const Pixels& w, const Pixels& out,
                      const Packs& packs) const {
  constexpr std::int64_t kFour = 4;  // random words
  if (packs.count == 1 || packs.count > gconv::kMostGroups) return false;
  if (e_.rounding.stochastic && out.channels / packs.count % kFour != 0) return false;
  const std::optional<halo::Choice> one =
      shares_taps(some_positions(f, gathered, w, out, packs, 0, 1), hgemm::kProcessors);
  if (!one || halo::is_forced(forced_)) return one.has_value();
  const Launch all = some_positions(f, gathered, w, out, packs, 0, packs.count);
  return static_cast<double>(packs.count) * one->microseconds < hconv::microseconds(work_of(all, packs));
}

// The filters of packs, with zeros for the channels of their other groups.
Pixels Pass::block_diagonal(const Pixels& w, const Packs& packs) {
  Pixels out = w;
  out.channels *= packs.groups;
  out.pitch = ceil_div(out.channels, unit_of(w.type)) * unit_of(w.type);
  const std::int64_t elements = out.count() * out.pitch;
  out.address = arena_.take(width_of(w.type) * elements);
  if (device_ == nullptr) return out;
  device_->fill(out.address, 0, static_cast<unsigned>(width_of(w.type)), static_cast<std::size_t>(elements),
                stream_.handle());
  const std::int64_t rows = w.count() / p_.groups;  // of taps
  const Shape blocks = {packs.count, packs.groups, rows, w.channels};
  copy(w.address, w.type, {blocks, {packs.groups * rows * w.pitch, rows * w.pitch, w.pitch, 1}}, out.address, w.type,
       {blocks, {packs.groups * rows * out.pitch, rows * out.pitch + w.channels, out.pitch, 1}});
  return out;
}

// fprop and bprop: rows of the product are positions of the result.
void Pass::positions(const Pixels& gathered, const Pixels& w, const Pixels& out) {
  const bool forward = pass_ == ConvPass::fprop;
  const std::vector<Gather> all = *gathers(pass_, p_);
  const std::int64_t whole = out.size[0] * out.size[1] * out.size[2];
  const Packs packs = packs_of(pass_, p_);
  const Pixels filters = packs.groups > 1 ? block_diagonal(w, packs) : w;
  const std::int64_t width = width_of(out.type);
  const bool strided = !forward && p_.stride != decltype(p_.stride){1, 1, 1};
  // Positions that no tap reaches.
  std::int64_t reached = 0;
  for (const Gather& g : all) reached += g.count();
  const std::int64_t columns = out.channels / packs.count;
  if (strided || reached < whole || (packs.count > 1 && columns % kMaskWord != 0)) masked_ = false;
  if (device_ != nullptr && reached < whole && e_.beta == 0) {
    const float nothing = e_.alpha * 0.0F;  // minus zero, or NaN
    device_->fill(out.address, bits_of(nothing, out.type), static_cast<unsigned>(width),
                  static_cast<std::size_t>(out.count() * out.pitch), stream_.handle());
  }
  for (const Gather& f : all) {
    const std::size_t mark = arena_.mark();
    const std::int64_t rows = p_.n * f.count();
    // The positions of a class lie apart: they are computed side by side.
    std::uint64_t to = out.address;
    const Shape some = {p_.n, f.positions[2], f.positions[1], f.positions[0], out.channels};
    const std::int64_t line = out.pitch * out.size[0];
    const std::int64_t plane = line * out.size[1];
    const Lying apart = {some,
                         {out.pitch * whole, plane * f.stride[2], line * f.stride[1], out.pitch * f.stride[0], 1}};
    const Lying beside = lying(Layout::channels_last, some, out.pitch);
    const std::uint64_t first =
        out.address +
        static_cast<std::uint64_t>((plane * f.first[2] + line * f.first[1] + out.pitch * f.first[0]) * width);
    if (strided) {
      to = arena_.take(rows * out.pitch * width);
      if (e_.beta != 0) copy(first, out.type, apart, to, out.type, beside);
    }
    Pixels target = out;
    target.address = to;
    const std::int64_t each = apart_pays(f, gathered, filters, target, packs) ? 1 : packs.count;
    for (std::int64_t pack = 0; pack < packs.count; pack += each)
      launch(some_positions(f, gathered, filters, target, packs, pack, each));
    if (strided) copy(to, out.type, beside, first, out.type, apart);
    arena_.release(mark);
  }
}

// Rows are filters, columns taps with channels in blocks of 64. Where those are not full the columns are put together behind;
// so are the blocks of a pack whose filters and channels are of one group.
void Pass::update(const Pixels& dy, const Pixels& x, const Pixels& out) {
  const Gather f = gathers(pass_, p_)->front();
  const std::int64_t taps = f.all_taps();
  const auto width = static_cast<std::int64_t>(size_of(out.type));
  const Packs packs = packs_of(pass_, p_);
  const std::int64_t blocks = ceil_div(packs.c, kBlock);
  const std::int64_t channels = p_.c / p_.groups;
  Launch l;
  l.pass = 'u';
  l.gather = f;
  l.deep = volume(p_);
  l.packs = packs.count;
  l.group_channels = x.channels / packs.count;
  l.group_filters = dy.channels / packs.count;
  l.x = x;
  l.w = dy;
  l.a = rows_map(dy);
  l.b = columns_map(x, f, l.deep, static_cast<std::uint32_t>(kBlock));
  l.gemm = epilogue(0, taps * blocks * kBlock);
  l.gemm.m = packs.k;
  l.gemm.k = ceil_div(dy.count(), kBlock) * kBlock;
  l.gemm.c = out.address;
  l.gemm.c_type = out.type;
  l.gemm.ldc = taps * channels;
  l.gemm.stride_c = packs.k * l.gemm.ldc;
  l.divisor = blocks;
  l.channels = packs.groups == 1 && channels % kBlock == 0 ? 0 : channels;
  l.block = p_.k / p_.groups;
  l.bytes = static_cast<double>(2 * dy.count() * dy.channels + 2 * x.count() * x.channels + width * p_.k * l.gemm.ldc);
  launch(l);
}

// w as gconv.sass wants it: a row of all taps' channels for each of a group's columns of the result. bprop: channels are
// filters, and taps go down.
Pixels Pass::filters(std::int64_t group, std::int64_t rows, std::int64_t channels) {
  const Shape s = shape(Role::w);
  const Shape from = lies(Role::w).strides;
  const bool forward = pass_ == ConvPass::fprop;
  const std::int64_t line = s[3] * channels;
  const std::int64_t columns = s[1] * s[2] * line;
  std::int64_t first = group * (s[0] / p_.groups) * from[0];
  Pixels out = {at_.in2 + static_cast<std::uint64_t>(2 * first), p_.w_type, columns, eights(columns), {rows, 1, 1}, 1};
  if (device_ != nullptr && forward && p_.layout == Layout::channels_last && out.pitch == columns &&
      out.address % 16 == 0) {
    return out;
  }
  out.address = arena_.take(2 * rows * out.pitch);
  const Shape tap = {out.pitch, s[2] * line, line, channels, 1};
  if (forward) {
    copy(at_.in2 + static_cast<std::uint64_t>(2 * first), p_.w_type, {{rows, s[1], s[2], s[3], channels}, from},
         out.address, p_.w_type, {{rows, s[1], s[2], s[3], channels}, tap});
    return out;
  }
  for (std::size_t axis = 1; axis < 4; ++axis) first += (s[axis] - 1) * from[axis];
  copy(at_.in2 + static_cast<std::uint64_t>(2 * first), p_.w_type,
       {{rows, s[1], s[2], s[3], channels}, {from[4], -from[1], -from[2], -from[3], from[0]}}, out.address, p_.w_type,
       {{rows, s[1], s[2], s[3], channels}, tap});
  return out;
}

// halo.sass stores 16-bit results: what is rounded at random by a copy behind is gathered.
std::optional<cells::Cells> Pass::in_cells() const {
  const bool forced = cells::is_forced(forced_);
  if (pass_ != ConvPass::fprop || (!forced && !forced_.kernel.empty())) return std::nullopt;
  if (e_.rounding.stochastic && (p_.layout != Layout::channels_last || apart(p_, Role::y))) return std::nullopt;
  std::optional<cells::Cells> c = cells::cells_of(pass_, p_);
  if (forced || (c && cells::pays(*c, p_))) return c;
  return std::nullopt;
}

// fprop of few channels, whose strides are in the copies.
void Pass::cells_fprop(const cells::Cells& c, const Pixels& out) {
  const std::size_t mark = arena_.mark();
  Launch l;
  l.pass = 'f';
  l.gather = c.taps;
  l.x = {arena_.take(c.pictures_bytes(p_.n)), p_.x_type, c.channels, c.channels, {c.pixels[1], c.pixels[0], 1}, p_.n};
  l.w = {arena_.take(c.filters_bytes(p_.k)), p_.w_type, c.wide, c.wide, c.taps.taps, p_.k};
  if (device_ != nullptr) {
    cells::copy_pictures(*device_, c, p_, at_.in1, l.x.address, stream_);
    cells::copy_filters(*device_, c, p_, at_.in2, l.w.address, stream_);
  }
  l.gemm = epilogue(0, out.channels);
  l.gemm.m = p_.n * c.taps.count();
  l.gemm.c = out.address;
  l.gemm.c_type = out.type;
  l.gemm.ldc = out.pitch;
  put_mask(l.gemm, 0, 0);
  arena_.release(mark);
  if (device_ == nullptr) return;
  const halo::Work work = {'f', c.taps, l.x.size, l.x.n, c.wide, l.gemm.n, 0, c.channels};
  const int multiprocessors = device_->info().multiprocessors;
  // Both add the same products in the same order: of at most 64 channels.
  const std::optional<halo::Choice> streams = halo::choose(work, multiprocessors, forced_);
  const std::optional<resident::Choice> keeps =
      halo::is_forced(forced_) ? std::nullopt : resident::choose(work, multiprocessors);
  if (keeps && (!streams || keeps->microseconds < streams->microseconds)) {
    l.gathered = l.x;
    l.gemm.k = c.taps.all_taps() * c.wide;
    l.b = rows_map({l.w.address, l.w.type, l.gemm.k, l.gemm.k, {p_.k, 1, 1}, 1});
    launch_resident(l, *keeps);
  } else if (streams) {
    launch_halo(l, *streams);
  } else {
    throw InvalidArgument("conv: no kernel " + forced_.kernel + " for this");
  }
}

// fprop and bprop of few channels to gather. Rows are positions of the result.
void Pass::few_positions(const Pixels& gathered, const Pixels& out) {
  const Gather f = gathers_of(pass_, p_).front();
  const auto width = static_cast<std::int64_t>(size_of(out.type));
  if (p_.groups > 1 && out.channels / p_.groups % kMaskWord != 0) masked_ = false;
  for (std::int64_t group = 0; group < p_.groups; ++group) {
    const std::size_t mark = arena_.mark();
    Launch l;
    l.pass = 'f';
    l.gather = f;
    l.gathered = group_of(gathered, group);
    l.gemm = epilogue(group, out.channels / p_.groups);
    l.gemm.m = out.count();
    l.gemm.k = f.all_taps() * l.gathered.channels;
    l.gemm.c = out.address + static_cast<std::uint64_t>(group * l.gemm.n * width);
    l.gemm.c_type = out.type;
    l.gemm.ldc = out.pitch;
    l.gemm.rounding.offset += static_cast<std::uint64_t>(group * l.gemm.n) / 4;
    l.bytes = static_cast<double>(2 * l.gathered.count() * l.gathered.channels + 2 * l.gemm.n * l.gemm.k +
                                  width * l.gemm.m * l.gemm.n);
    put_mask(l.gemm, 0, group);
    l.b = rows_map(filters(group, l.gemm.n, l.gathered.channels));
    launch(l);
    arena_.release(mark);
  }
}

// Rows are filters, columns taps with their channels.
void Pass::few_update(const Pixels& dy, const Pixels& x, const Pixels& out) {
  const Gather f = gathers_of(pass_, p_).front();
  const auto width = static_cast<std::int64_t>(size_of(out.type));
  for (std::int64_t group = 0; group < p_.groups; ++group) {
    const Pixels a = group_of(dy, group);
    Launch l;
    l.pass = 'u';
    l.gather = f;
    l.gathered = group_of(x, group);
    l.a = rows_map(a);
    const std::int64_t columns = f.all_taps() * l.gathered.channels;
    const std::int64_t before = group * a.channels * columns;
    l.gemm = epilogue(0, columns);
    l.gemm.m = a.channels;
    l.gemm.k = a.count();
    l.gemm.c = out.address + static_cast<std::uint64_t>(before * width);
    l.gemm.c_type = out.type;
    l.gemm.ldc = columns;
    l.gemm.rounding.offset += static_cast<std::uint64_t>(before) / 4;
    l.bytes = static_cast<double>(2 * a.count() * a.channels + 2 * l.gathered.count() * l.gathered.channels +
                                  width * a.channels * columns);
    launch(l);
  }
}

// x with zeros around it, channels last.
std::uint64_t Pass::padded(const Columns& c) {
  const std::int64_t line = c.padded[1] * p_.c;
  const std::int64_t picture = c.padded[0] * line;
  const std::uint64_t to = arena_.take(2 * p_.n * picture);
  if (device_ == nullptr) return to;
  device_->fill(to, 0, 2, static_cast<std::size_t>(p_.n * picture), stream_.handle());
  const std::int64_t height = std::min(p_.in[1], c.padded[0] - p_.pad[1]);
  const std::int64_t width = std::min(p_.in[2], c.padded[1] - p_.pad[2]);
  if (height <= 0 || width <= 0) return to;
  const Shape some = {p_.n, 1, height, width, p_.c};
  const std::uint64_t first = to + static_cast<std::uint64_t>(2 * (p_.pad[1] * line + p_.pad[2] * p_.c));
  const std::uint64_t from = pass_ == ConvPass::fprop ? at_.in1 : at_.in2;
  copy(from, p_.x_type, {some, lies(Role::x).strides}, first, p_.x_type, {some, {picture, picture, line, p_.c, 1}});
  return to;
}

// w as rows of all taps' channels.
std::uint64_t Pass::matrix(const Columns& c) {
  if (p_.layout == Layout::channels_last && c.pitch == c.columns && at_.in2 % 16 == 0) return at_.in2;
  const std::uint64_t to = arena_.take(2 * p_.k * c.pitch);
  copy(at_.in2, p_.w_type, lies(Role::w), to, p_.w_type,
       {shape(Role::w), {c.pitch, c.pitch, p_.filter[2] * p_.c, p_.c, 1}});
  return to;
}

// The windows of `count` pictures from `first` on.
void Pass::gather(const Columns& c, std::uint64_t pictures, std::int64_t first, std::int64_t count, std::uint64_t to) {
  const auto out = p_.out();
  const std::int64_t line = c.padded[1] * p_.c;
  const std::int64_t picture = c.padded[0] * line;
  const std::int64_t run = p_.filter[2] * p_.c;  // neighbours in memory
  const Shape windows = {count, out[1], out[2], p_.filter[1], run};
  copy(pictures + static_cast<std::uint64_t>(2 * first * picture), p_.x_type,
       {windows, {picture, p_.stride[1] * line, p_.stride[2] * p_.c, p_.dilation[1] * line, 1}}, to, p_.x_type,
       {windows, {c.rows * c.pitch, out[2] * c.pitch, c.pitch, run, 1}});
}

void Pass::multiply(GemmProblem g) {
  const std::size_t mark = arena_.mark();
  // Room for partial sums though gemm's choice of a kernel may need none: autotune() and other devices choose another.
  g.workspace = 1;  // as if there were one
  const std::int64_t splits = g.m * g.n < kLimit ? hgemm::splits_of(g) : 1;
  g.workspace = arena_.take(splits > 1 ? splits * g.m * g.n * 4 : 0);
  if (device_ != nullptr) gemm(g, stream_);
  arena_.release(mark);
}

void Pass::columns_fprop(const Pixels& out) {
  const Columns c = columns_of(p_);
  const std::uint64_t pictures = padded(c);
  const std::uint64_t w = matrix(c);
  const std::uint64_t windows = arena_.take(2 * c.pictures * c.rows * c.pitch);
  for (std::int64_t first = 0; first < p_.n; first += c.pictures) {
    const std::int64_t count = std::min(c.pictures, p_.n - first);
    const std::int64_t before = first * c.rows * out.pitch;
    gather(c, pictures, first, count, windows);
    GemmProblem g = epilogue(0, p_.k);
    g.b_transposed = true;
    g.a = windows;
    g.b = w;
    g.m = count * c.rows;
    g.k = c.columns;
    g.lda = g.ldb = c.pitch;
    g.ldc = out.pitch;
    g.c_type = out.type;
    g.c = out.address + static_cast<std::uint64_t>(before) * size_of(out.type);
    put_mask(g, first * c.rows, 0);
    g.rounding.offset += static_cast<std::uint64_t>(before) / 4;
    multiply(g);
  }
}

void Pass::columns_update(const Pixels& dy, const Pixels& out) {
  const Columns c = columns_of(p_);
  const std::uint64_t pictures = padded(c);
  const std::uint64_t windows = arena_.take(2 * c.pictures * c.rows * c.pitch);
  const bool several = c.pictures < p_.n;
  GemmProblem whole = epilogue(0, c.columns);
  whole.m = p_.k;
  whole.c = out.address;
  whole.c_type = out.type;
  whole.ldc = c.columns;
  if (several) whole.workspace = arena_.take(4 * p_.k * c.columns);
  for (std::int64_t first = 0; first < p_.n; first += c.pictures) {
    const std::int64_t count = std::min(c.pictures, p_.n - first);
    gather(c, pictures, first, count, windows);
    GemmProblem g = whole;
    if (several) {
      g = epilogue(0, c.columns);
      g.alpha = 1.0F;
      g.beta = first == 0 ? 0.0F : 1.0F;
      g.rounding = {};
      g.m = p_.k;
      g.c = whole.workspace;
      g.c_type = Dtype::float32;
      g.ldc = c.columns;
    }
    g.a_transposed = true;
    g.a = dy.address + static_cast<std::uint64_t>(2 * first * c.rows * dy.pitch);
    g.b = windows;
    g.k = count * c.rows;
    g.lda = dy.pitch;
    g.ldb = c.pitch;
    multiply(g);
  }
  if (!several || device_ == nullptr) return;
  const split_sum::Plan end = split_sum::plan(device_->registry(), sgemm::sum_of(whole, 1));
  end.values.launch(*device_, *end.kernel, end.grid, stream_.handle());
}

// A float32 result has a float32 bias.
void Pass::widen_bias() {
  const std::uint64_t wide = arena_.take(4 * p_.k);
  if (at_.bias == 0 || !sgemm::half(at_.bias_type)) return;
  const Lying row = {{p_.k}, {1}};
  copy(at_.bias, at_.bias_type, row, wide, Dtype::float32, row);
  at_.bias = wide;
  at_.bias_type = Dtype::float32;
}

void Pass::run() {
  const Roles roles = roles_of(pass_);
  const std::optional<cells::Cells> as_cells = in_cells();
  const bool few =
      !as_cells && (forced_.kernel.empty() ? gconv::gathers_rows(pass_, p_)
                                           : gconv::forced_run(forced_) != 0 || resident::is_forced(forced_));
  if (few && !gconv::possible(pass_, p_))
    throw InvalidArgument("conv: gconv*" + forced_.kernel + " cannot gather this");
  const bool columns = !few && !as_cells && in_columns(pass_, p_);
  const bool is_update = pass_ == ConvPass::update;
  Pixels in1;
  Pixels in2;
  if (!as_cells && cells::is_forced(forced_)) forced_ = {};
  if (as_cells) {
    forced_ = cells::of_halo(forced_);
  } else if (few) {
    in1 = operand(roles.in1, at_.in1, is_update ? kEight : 1);
    if (is_update) in2 = operand(roles.in2, at_.in2, 1);
  } else {
    const Packs packs = packs_of(pass_, p_);
    if (!columns || is_update) in1 = operand_in_packs(roles.in1, at_.in1, packs);
    if (is_update && !columns) in2 = operand_in_packs(roles.in2, at_.in2, packs);
    if (!is_update && !columns) in2 = operand(roles.in2, at_.in2, packs.groups > 1 ? 1 : unit_of(p_.w_type));  // w
  }
  const Shape s = shape(roles.out);
  Pixels out = {at_.out, type_of(p_, roles.out), s[4], pitch_of(p_, roles.out), {s[3], s[2], s[1]}, s[0]};
  const bool strided = pass_ == ConvPass::bprop && p_.stride != decltype(p_.stride){1, 1, 1};
  const Rounding rounding = e_.rounding;
  // Rounding at random counts the elements of the result as they lie: then it is the last copy's. So is what lies between
  // pixels, where all positions are filled.
  const bool between = apart(p_, roles.out);
  const bool through = p_.layout != Layout::channels_last || (strided && (rounding.stochastic || between)) ||
                       (between && rounding.stochastic);
  const Dtype type = out.type;
  if (through) {
    masked_ = false;
    if (pass_ != ConvPass::update) out.pitch = eights(out.channels);
    if (rounding.stochastic) out.type = Dtype::float32;
    e_.rounding = {};
    out.address = arena_.take(out.count() * out.pitch * static_cast<std::int64_t>(size_of(out.type)));
    if (e_.beta != 0) {
      copy(at_.out, type, lies(roles.out), out.address, out.type, lying(Layout::channels_last, s, out.pitch));
    }
  }
  if (out.type == Dtype::float32 && pass_ == ConvPass::fprop) widen_bias();
  if (as_cells) {
    cells_fprop(*as_cells, out);
  } else if (few && is_update) {
    few_update(in1, in2, out);
  } else if (few) {
    few_positions(in1, out);
  } else if (columns && pass_ == ConvPass::fprop) {
    columns_fprop(out);
  } else if (columns) {
    columns_update(in1, out);
  } else if (is_update) {
    update(in1, in2, out);
  } else {
    positions(in1, in2, out);
  }
  if (through) {
    copy(out.address, out.type, lying(Layout::channels_last, s, out.pitch), at_.out, type, lies(roles.out), rounding);
  }
}

}  // namespace

bool there(const Registry& registry) {
  return !registry.of_op("hconv").empty();
}

namespace {

// Bytes of very few channels fill a block's 128 badly, and chains of multiply-adds waste nothing.
bool chains_are_faster(const ConvProblem& p) {
  constexpr std::int64_t kFew = 8;
  constexpr double kChains =
      8.6e6;                    // multiply-adds a microsecond: 64 a clock of 132 multiprocessors, 0.58 of them issued
  constexpr double kStart = 4;  // microseconds
  if (p.groups > 1 || p.c >= kFew) return false;
  hconv::Work w = {'f', {}, pairs(p.c, p.x_type), pairs(p.k, p.x_type), 0};
  w.product.a_type = p.x_type;
  w.product.b_type = p.w_type;
  w.product.c_type = p.y_type;
  w.product.m = p.y_elements() / p.k;
  w.product.n = p.k;
  w.product.k = p.filter[0] * p.filter[1] * p.filter[2] * block_of(p.x_type);
  w.bytes = static_cast<double>(p.x_elements() + p.w_elements() + width_of(p.y_type) * p.y_elements());
  return kStart + p.flops() / 2 / kChains < hconv::microseconds(w);
}

// 16-bit floats, or fprop of bytes.
bool takes_types(ConvPass pass, const ConvProblem& p) {
  if (sgemm::half(p.x_type)) return p.w_type == p.x_type && p.y_type == p.x_type;
  return pass == ConvPass::fprop && sgemm::byte(p.x_type) && p.w_type == Dtype::int8 && p.y_type == Dtype::int32;
}

}  // namespace

bool takes(ConvPass pass, const ConvProblem& p) {
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
  return !sgemm::byte(p.x_type) || !chains_are_faster(p);
}

bool fits(ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& e) {
  const Roles roles = roles_of(pass);
  const bool last = p.layout == Layout::channels_last;
  const auto readable = [&](Role role, std::uint64_t address) {
    return !last || pitch_of(p, role) % unit_of(type_of(p, role)) != 0 || address % 16 == 0;
  };
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
  const bool strided = pass == ConvPass::bprop && p.stride != decltype(p.stride){1, 1, 1};
  if (strided && e.beta != 0 && e.beta != 1) {  // beta times what no tap reaches
    const std::vector<Gather> all = *gathers(pass, p);
    std::int64_t reached = 0;
    for (const Gather& g : all) reached += g.count();
    if (reached < p.in[0] * p.in[1] * p.in[2]) return false;
  }
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

bool queue(Device& device, ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& epilogue,
           const Stream& stream, const Forced& forced) {
  Pass all(&device, pass, p, pointers, epilogue, stream, forced);
  all.run();
  return all.masked();
}

}  // namespace nervanagpu::conv_detail::tensor_cores

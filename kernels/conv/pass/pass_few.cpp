// Few channels: launches of gconv.sass, and windows as rows of a matrix.
#include "kernels/conv/pass/pass.h"

namespace nervanagpu::conv_detail::tensor_cores {

// w as gconv.sass wants it: a row of all taps' channels for each of a group's columns of the result. bprop: channels are
// filters, and taps go down.
Pixels Pass::filters(std::int64_t group, std::int64_t rows, std::int64_t channels) {
  const Shape s = shape(Role::w);
  const Shape from = laid_out(Role::w).strides;
  const bool forward = pass_ == ConvPass::fprop;
  const std::int64_t line = s[3] * channels;
  const std::int64_t columns = s[1] * s[2] * line;
  std::int64_t first = group * (s[0] / p_.groups) * from[0];
  Pixels out = {at_.in2 + static_cast<std::uint64_t>(2 * first), p_.w_type, columns, eights(columns), {rows, 1, 1}, 1};
  if ((device_ != nullptr || models_ != nullptr) && forward && p_.layout == Layout::channels_last &&
      out.pitch == columns && out.address % 16 == 0) {
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
    l.bytes = static_cast<double>(2 * l.gathered.n * f.pixels(l.gathered.size) * l.gathered.channels +
                                  2 * l.gemm.n * l.gemm.k + width * l.gemm.m * l.gemm.n);
    l.first_column = group * l.gemm.n;
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
    l.bytes = static_cast<double>(2 * a.count() * a.channels +
                                  2 * l.gathered.n * f.pixels(l.gathered.size) * l.gathered.channels +
                                  width * a.channels * columns);
    launch(l);
  }
}

// x with zeros around it, channels last.
std::uint64_t Pass::padded(const Columns& c) {
  const std::int64_t line = c.padded[1] * p_.c;
  const std::int64_t image = c.padded[0] * line;
  const std::uint64_t to = arena_.take(2 * p_.n * image);
  if (device_ == nullptr) return to;
  device_->fill(to, 0, 2, static_cast<std::size_t>(p_.n * image), stream_.handle());
  const std::int64_t height = std::min(p_.in[1], c.padded[0] - p_.pad[1]);
  const std::int64_t width = std::min(p_.in[2], c.padded[1] - p_.pad[2]);
  if (height <= 0 || width <= 0) return to;
  const Shape some = {p_.n, 1, height, width, p_.c};
  const std::uint64_t first = to + static_cast<std::uint64_t>(2 * (p_.pad[1] * line + p_.pad[2] * p_.c));
  const std::uint64_t from = pass_ == ConvPass::fprop ? at_.in1 : at_.in2;
  copy(from, p_.x_type, {some, laid_out(Role::x).strides}, first, p_.x_type, {some, {image, image, line, p_.c, 1}});
  return to;
}

// w as rows of all taps' channels.
std::uint64_t Pass::matrix(const Columns& c) {
  if (p_.layout == Layout::channels_last && c.pitch == c.columns && at_.in2 % 16 == 0) return at_.in2;
  const std::uint64_t to = arena_.take(2 * p_.k * c.pitch);
  copy(at_.in2, p_.w_type, laid_out(Role::w), to, p_.w_type,
       {shape(Role::w), {c.pitch, c.pitch, p_.filter[2] * p_.c, p_.c, 1}});
  return to;
}

// The windows of `count` images from `first` on.
void Pass::gather(const Columns& c, std::uint64_t images, std::int64_t first, std::int64_t count, std::uint64_t to) {
  const auto out = p_.out();
  const std::int64_t line = c.padded[1] * p_.c;
  const std::int64_t image = c.padded[0] * line;
  const std::int64_t run = p_.filter[2] * p_.c;  // neighbours in memory
  const Shape windows = {count, out[1], out[2], p_.filter[1], run};
  copy(images + static_cast<std::uint64_t>(2 * first * image), p_.x_type,
       {windows, {image, p_.stride[1] * line, p_.stride[2] * p_.c, p_.dilation[1] * line, 1}}, to, p_.x_type,
       {windows, {c.rows * c.pitch, out[2] * c.pitch, c.pitch, run, 1}});
}

void Pass::multiply(GemmProblem g) {
  sums_ = false;
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
  const std::uint64_t images = padded(c);
  const std::uint64_t w = matrix(c);
  const std::uint64_t windows = arena_.take(2 * c.images * c.rows * c.pitch);
  for (std::int64_t first = 0; first < p_.n; first += c.images) {
    const std::int64_t count = std::min(c.images, p_.n - first);
    const std::int64_t before = first * c.rows * out.pitch;
    gather(c, images, first, count, windows);
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
  const std::uint64_t images = padded(c);
  const std::uint64_t windows = arena_.take(2 * c.images * c.rows * c.pitch);
  const bool several = c.images < p_.n;
  GemmProblem whole = epilogue(0, c.columns);
  whole.m = p_.k;
  whole.c = out.address;
  whole.c_type = out.type;
  whole.ldc = c.columns;
  if (several) whole.workspace = arena_.take(4 * p_.k * c.columns);
  for (std::int64_t first = 0; first < p_.n; first += c.images) {
    const std::int64_t count = std::min(c.images, p_.n - first);
    gather(c, images, first, count, windows);
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

}  // namespace nervanagpu::conv_detail::tensor_cores

#include "kernels/gemm/choose/measure.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <tuple>
#include <utility>

#include "kernels/gemm/prepared.h"
#include "nervanagpu/error.hpp"
#include "src/memory/storage.h"
#include "src/numbers/half.h"

namespace nervanagpu::sgemm {
namespace {

constexpr std::size_t kRandom = std::size_t{1} << 20;  // bytes that repeat
constexpr std::size_t kCache = std::size_t{96} << 20;  // more than a GPU caches
constexpr std::size_t kSets = 4;                       // of operands, at most
constexpr std::size_t kSwept = std::size_t{64} << 20;  // bytes that are filled before each turn,
constexpr int kSweeps = 6;                             // so often that the launches are queued when they end
constexpr int kTurns = 5;
constexpr double kBehind = 1.25;  // times the fastest, after the first turn: is not measured again
constexpr double kTurn = 100.0;   // microseconds of launches
constexpr int kMostLaunches = 12;
constexpr std::size_t kShare = 4;  // of the device's memory: what may be taken

template <class T, class F>
void fill_with(std::vector<std::byte>& bytes, const F& next) {
  for (std::size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    const T value = next();
    std::memcpy(&bytes[i], &value, sizeof value);
  }
}

// Numbers as networks have them: power, and with it the clock, depends on how many bits change.
std::vector<std::byte> random_bytes(Dtype type) {
  std::vector<std::byte> out(kRandom);
  std::minstd_rand random(1);
  const auto unit = [&] { return static_cast<double>(random()) / 1073741824.0 - 1.0; };
  switch (type) {
    case Dtype::float64: fill_with<double>(out, unit); break;
    case Dtype::float32: fill_with<float>(out, [&] { return static_cast<float>(unit()); }); break;
    case Dtype::float16: fill_with<std::uint16_t>(out, [&] { return half_bits(unit()); }); break;
    case Dtype::bfloat16: fill_with<std::uint16_t>(out, [&] { return bfloat_bits(unit()); }); break;
    default: fill_with<std::uint8_t>(out, [&] { return static_cast<std::uint8_t>(random() >> 8); });
  }
  return out;
}

// A stream, events and memory that go with the scope. Streams are the device's own: nobody else has work in them.
class Bench {
 public:
  explicit Bench(Device& device) : device_(device), stream_(device.create_stream()) {
    begin_ = device_.create_event();
    end_ = device_.create_event();
  }
  ~Bench() {
    device_.destroy_event(begin_);
    device_.destroy_event(end_);
    device_.destroy_stream(stream_);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  [[nodiscard]] StreamId stream() const { return stream_; }

  // `bytes` of device memory that begin as far after a multiple of 16 as `form` does.
  std::uint64_t take(std::size_t bytes, std::uint64_t form) {
    constexpr std::uint64_t kUnit = 16;
    memory_.push_back(std::make_unique<Storage>(device_, bytes + kUnit));
    return memory_.back()->address() + form % kUnit;
  }

  // The same with random numbers in it.
  std::uint64_t random(std::size_t bytes, std::uint64_t form, Dtype type) {
    const std::uint64_t to = take(bytes, form);
    const std::vector<std::byte> block = random_bytes(type);
    std::size_t have = std::min(bytes, block.size());
    device_.upload(to, block.data(), have);
    for (; have < bytes; have += std::min(have, bytes - have)) {
      device_.copy(to + have, to, std::min(have, bytes - have), stream_);
    }
    return to;
  }

  // Microseconds from the first launch's beginning to the last one's end.
  template <class F>
  double time(int launches, const F& launch) {
    for (int i = 0; i < kSweeps; ++i) device_.fill(swept(), 0, 4, kSwept / 4, stream_);
    device_.record(begin_, stream_);
    for (int i = 0; i < launches; ++i) launch(i);
    device_.record(end_, stream_);
    device_.wait(end_);
    return device_.elapsed_ms(begin_, end_) * 1e3;
  }

  void finish() { device_.synchronize(stream_); }

 private:
  std::uint64_t swept() {
    if (swept_ == 0) swept_ = take(kSwept, 0);
    return swept_;
  }

  Device& device_;
  StreamId stream_;
  EventId begin_ = 0, end_ = 0;
  std::uint64_t swept_ = 0;
  std::vector<std::unique_ptr<Storage>> memory_;
};

std::size_t bytes_of(std::int64_t rows, std::int64_t columns, std::int64_t leading, std::int64_t matrices,
                     std::int64_t stride, Dtype type) {
  if (rows <= 0 || columns <= 0) return 16;
  const std::int64_t last = (matrices - 1) * stride + (rows - 1) * leading + columns;
  return static_cast<std::size_t>(last) * size_of(type);
}

struct Sizes {
  explicit Sizes(const GemmProblem& p)
      : a(bytes_of(p.a_transposed ? p.k : p.m, p.a_transposed ? p.m : p.k, p.lda, p.batch, p.stride_a, p.a_type)),
        b(bytes_of(p.b_transposed ? p.n : p.k, p.b_transposed ? p.k : p.n, p.ldb, p.batch, p.stride_b, p.b_type)),
        c(bytes_of(p.m, p.n, p.ldc, p.batch, p.stride_c, p.c_type)) {}
  std::size_t a, b, c;
};

double median(std::vector<double> v) {
  std::ranges::sort(v);
  return v[v.size() / 2];
}

std::vector<double> measured(Device& device, const GemmProblem& p, const std::vector<Plan>& plans) {
  const Sizes size(p);
  GemmProblem form = p;
  form.row_sum = form.column_sum = form.row_max_abs = form.column_max_abs = 0;  // after any kernel alike
  std::vector<std::unique_ptr<Prepared>> ready;
  ready.reserve(plans.size());
  std::size_t workspace = 0;
  for (const Plan& x : plans) {
    ready.push_back(std::make_unique<Prepared>(device, form, x));
    workspace = std::max(workspace, ready.back()->workspace());
  }
  const std::size_t sets = std::clamp<std::size_t>(kCache / (size.a + size.b), 1, kSets);
  if (sets * (size.a + size.b) + size.c + workspace > device.info().memory / kShare) return {};
  Bench bench(device);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> operands;
  for (std::size_t i = 0; i < sets; ++i) {
    operands.emplace_back(bench.random(size.a, p.a, p.a_type), bench.random(size.b, p.b, p.b_type));
  }
  const auto vector = static_cast<std::size_t>(std::max(p.m, p.n)) * 4;
  Prepared::Call call;
  call.c = bench.random(size.c, p.c, p.c_type);
  if (p.bias != 0) call.bias = bench.random(vector, p.bias, p.bias_type);
  if (p.scale != 0) call.scale = bench.random(vector, p.scale, Dtype::float32);
  if (p.mask != 0) {
    call.mask = bench.random(static_cast<std::size_t>(p.batch * p.m * p.ld_mask) * 4, p.mask, Dtype::uint8);
  }
  if (workspace != 0) call.workspace = bench.take(workspace, 0);
  call.beta = p.beta;
  bench.finish();

  const auto turn = [&](const Prepared& x, int launches) {
    const double all = bench.time(launches, [&](int i) {
      std::tie(call.a, call.b) = operands[static_cast<std::size_t>(i) % sets];
      x.launch(call, bench.stream());
    });
    return all / launches;
  };
  std::vector<std::vector<double>> times(plans.size());
  std::vector<double> first;
  for (const auto& x : ready) {
    turn(*x, 1);  // loads it, encodes the maps
    first.push_back(turn(*x, 2));
  }
  const double least = *std::ranges::min_element(first);
  for (int t = 0; t < kTurns; ++t) {
    for (std::size_t i = 0; i < ready.size(); ++i) {
      if (!(first[i] <= kBehind * least)) continue;
      times[i].push_back(turn(*ready[i], std::clamp(static_cast<int>(kTurn / least), 1, kMostLaunches)));
    }
  }
  std::vector<double> out = first;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!times[i].empty()) out[i] = median(times[i]);
  }
  return out;
}

}  // namespace

std::vector<double> microseconds_of(Device& device, const GemmProblem& problem, const std::vector<Plan>& plans) {
  if (device.info().kind == DeviceKind::emulator || problem.pointers != 0) return {};
  try {
    return measured(device, problem, plans);
  } catch (const OutOfMemory&) {
    return {};
  }
}

}  // namespace nervanagpu::sgemm

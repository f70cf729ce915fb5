#include "kernels/gemm/group.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>

#include "kernels/gemm/epilogue/result_sums.h"
#include "kernels/gemm/epilogue/results.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/types.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/grouped_gemm.hpp"
#include "src/device/select_device.h"
#include "src/mixed_hash.h"

namespace nervanagpu {
namespace sgemm {
namespace {

constexpr std::size_t kMostMatrices = 65535;  // of a launch
constexpr std::int64_t kSmall = 1 << 18;      // elements of C: products that would leave multiprocessors idle alone
constexpr std::size_t kTables = 3;            // of a, b and c
constexpr std::size_t kWords = 448;           // that a launch of table.sass writes
constexpr std::size_t kMapWords = sizeof(EncodedTensorMap::bytes) / sizeof(std::uint64_t);

// Where a product's matrices lie.
struct Place {
  std::uint64_t a, b, c;
};
struct Bucket {
  GemmProblem form;  // of the first one; what all have but their places
  std::vector<Place> places;
};

GemmProblem without_places(const GemmProblem& p) {
  GemmProblem out = p;
  // Where one of them has tensor cores and another one has not, bits would tell who is in a group with whom.
  constexpr std::uint64_t kEngine = 16;
  out.rounding = {};  // to nearest, which takes no random numbers
  out.a = p.a % kEngine == 0 ? 0 : 1, out.b = p.b % kEngine == 0 ? 0 : 1, out.c = 0;
  return out;
}

struct Hash {
  std::size_t operator()(const GemmProblem& p) const {
    MixedHash h;
    for (const std::int64_t v : {p.m, p.n, p.k, p.lda, p.ldb, p.ldc}) h.add(v);
    return h.add(p.bias).add(p.a_type).add(p.a + 2 * p.b).value();
  }
};

// May be part of a batch.
bool joins(const GemmProblem& p) {
  const bool own_pieces = p.precision == Precision::tensor && p.workspace != 0;  // room for one product's
  return p.batch == 1 && p.pointers == 0 && !own_pieces && !p.rounding.stochastic && p.splits == 1 && p.k != 0 &&
         p.mask == 0 && !has_sums(p) && p.a_pieces.address == 0 && p.b_pieces.address == 0;
}

// The elements from one address to the next; -1: none that a batch can have.
std::int64_t stride_of(std::uint64_t from, std::uint64_t to, Dtype type) {
  const std::uint64_t size = size_of(type);
  return to < from || (to - from) % size != 0 ? -1 : static_cast<std::int64_t>((to - from) / size);
}

// The longest batch of neighbours that begins at place `first`.
GemmProblem batch_from(const Bucket& bucket, std::size_t first) {
  GemmProblem p = bucket.form;
  const std::vector<Place>& all = bucket.places;
  p.a = all[first].a, p.b = all[first].b, p.c = all[first].c;
  for (std::size_t i = first + 1; i < all.size() && i - first < kMostMatrices; ++i) {
    GemmProblem wider = p;
    ++wider.batch;
    wider.stride_a = stride_of(all[i - 1].a, all[i].a, p.a_type);
    wider.stride_b = stride_of(all[i - 1].b, all[i].b, p.b_type);
    wider.stride_c = stride_of(all[i - 1].c, all[i].c, p.c_type);
    if (wider.stride_a < 0 || wider.stride_b < 0 || wider.stride_c < 0 || !apart(spread_of(wider))) break;
    const bool same = wider.stride_a == p.stride_a && wider.stride_b == p.stride_b && wider.stride_c == p.stride_c;
    if (p.batch > 1 && !same) break;
    p = wider;
  }
  return p;
}

std::size_t launches_by_strides(const Bucket& bucket) {
  std::size_t out = 0;
  for (std::size_t i = 0; i < bucket.places.size(); ++out) {
    i += static_cast<std::size_t>(batch_from(bucket, i).batch);
  }
  return out;
}

std::size_t launches_by_tables(const Bucket& bucket) {
  const std::size_t products = bucket.places.size();
  return (kTables * products + kWords - 1) / kWords + (products + kMostMatrices - 1) / kMostMatrices;
}

// Words to device memory, in order with what is queued.
void write(Device& device, const Kernel& kernel, std::uint64_t to, const std::vector<std::uint64_t>& words,
           StreamId stream) {
  for (std::size_t from = 0; from < words.size(); from += kWords) {
    const std::size_t count = std::min(kWords, words.size() - from);
    Values v;
    v.u64(to + from * sizeof(std::uint64_t)).u32(static_cast<std::int64_t>(count));
    for (std::size_t at = 0; at < kWords; at += kMapWords) {
      EncodedTensorMap part{};
      const std::size_t some = at < count ? std::min(kMapWords, count - at) : 0;
      if (some != 0) std::memcpy(part.bytes.data(), &words[from + at], some * sizeof(std::uint64_t));
      v.map(part);
    }
    v.launch(device, kernel, {1, 1, 1}, stream);
  }
}

class Group {
 public:
  Group(Device& device, std::uint64_t tables, StreamId stream, const std::function<void(const GemmProblem&)>& launch)
      : device_(device), tables_(tables), stream_(stream), launch_(launch) {
    const auto found = device.registry().of_op("table");
    writer_ = found.empty() ? nullptr : found.front();
  }

  void launch(const Bucket& bucket) {
    if (by_tables(bucket)) {
      for (std::size_t i = 0; i < bucket.places.size(); i += kMostMatrices) {
        launch_tables(bucket, i, std::min(bucket.places.size() - i, kMostMatrices));
      }
      return;
    }
    for (std::size_t i = 0; i < bucket.places.size();) {
      const GemmProblem p = batch_from(bucket, i);
      launch_(p);
      i += static_cast<std::size_t>(p.batch);
    }
  }

 private:
  [[nodiscard]] bool by_tables(const Bucket& bucket) const {
    GemmProblem first = bucket.form;
    first.a = bucket.places.front().a, first.b = bucket.places.front().b;
    if (tables_ == 0 || writer_ == nullptr || needs_finish(first) || wide(first.a_type) || first.m * first.n > kSmall)
      return false;
    if (on_tensor_cores(device_.registry(), first) || in_pieces(device_.registry(), first))
      return false;  // which round otherwise, and need a map for each matrix
    return launches_by_tables(bucket) < launches_by_strides(bucket);
  }

  void launch_tables(const Bucket& bucket, std::size_t first, std::size_t count) {
    std::vector<std::uint64_t> words(kTables * count);
    std::uint64_t low = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Place& x = bucket.places[first + i];
      words[i] = x.a, words[count + i] = x.b, words[2 * count + i] = x.c;
      low |= x.a | x.b | x.c;
    }
    const std::uint64_t bytes = count * sizeof(std::uint64_t);
    write(device_, *writer_, tables_, words, stream_);
    GemmProblem p = bucket.form;
    p.a = tables_, p.b = tables_ + bytes, p.c = tables_ + 2 * bytes;
    p.batch = static_cast<std::int64_t>(count);
    constexpr std::uint64_t kMost = 16;
    p.pointers = static_cast<std::int64_t>(std::min((low | kMost) & (~(low | kMost) + 1), kMost));
    launch_(p);
    tables_ += kTables * bytes;
  }

  Device& device_;
  std::uint64_t tables_;
  StreamId stream_;
  const std::function<void(const GemmProblem&)>& launch_;
  const Kernel* writer_ = nullptr;
};

}  // namespace

std::size_t tables_of(std::size_t products) {
  constexpr std::size_t kUnit = 16;
  return products < 2 ? 0 : (kTables * products * sizeof(std::uint64_t) + kUnit - 1) / kUnit * kUnit;
}

void launch_group(Device& device, const std::vector<GemmProblem>& products, std::uint64_t tables, StreamId stream,
                  const std::function<void(const GemmProblem&)>& launch) {
  std::unordered_map<GemmProblem, std::size_t, Hash> known;
  std::vector<Bucket> buckets;
  for (const GemmProblem& given : products) {
    GemmProblem p = given;
    if (p.splits == 0) p.splits = 1;
    if (!joins(p)) {
      launch(p);
      continue;
    }
    if (p.m == 0 || p.n == 0) continue;
    const auto [it, made] = known.emplace(without_places(p), buckets.size());
    if (made) buckets.push_back({p, {}});
    buckets[it->second].places.push_back({p.a, p.b, p.c});
  }
  Group group(device, tables, stream, launch);
  for (const Bucket& bucket : buckets) group.launch(bucket);
}

}  // namespace sgemm

std::size_t grouped_gemm_workspace(const std::vector<GemmProblem>& products) {
  for (const GemmProblem& p : products) sgemm::check_sizes(p);
  return sgemm::tables_of(products.size());
}

void grouped_gemm(const std::vector<GemmProblem>& products, std::uint64_t workspace, const Stream& stream) {
  if (workspace % 16 != 0) {
    throw InvalidArgument("grouped_gemm: address of workspace is " + std::to_string(workspace) +
                          "; needs a multiple of 16");
  }
  const auto named = [](std::size_t i, const std::exception& e) {
    return "grouped_gemm: product " + std::to_string(i) + ": " + e.what();
  };
  Device& device = current_device();
  for (std::size_t i = 0; i < products.size(); ++i) {
    try {
      sgemm::check_launch(device, products[i]);
    } catch (const TypeError& e) {
      throw TypeError(named(i, e));
    } catch (const InvalidArgument& e) {
      throw InvalidArgument(named(i, e));
    }
  }
  sgemm::launch_group(device, products, workspace, stream.handle(), [&](const GemmProblem& p) { gemm(p, stream); });
}

}  // namespace nervanagpu

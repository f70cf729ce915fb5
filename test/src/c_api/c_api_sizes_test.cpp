// Sizes that no problem can have, in every function of nervanagpu.h that takes sizes: each field of a structure in turn is
// set to numbers below, above and far beyond its range.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "nervanagpu/nervanagpu.h"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::array<std::int64_t, 8> kNever = {
    kMin, kMin + 1, -(std::int64_t{1} << 32), -4, -1, std::int64_t{1} << 62, kMax - 1, kMax};

class CSizes : public test::OnEmulator {
 protected:
  CSizes() { EXPECT_EQ(ng_malloc(&memory_, 1 << 16), NG_OK); }
  ~CSizes() override { EXPECT_EQ(ng_free(memory_), NG_OK); }

  static void refused(ng_status got, const std::string& what) {
    EXPECT_TRUE(got == NG_INVALID_ARGUMENT || got == NG_TYPE_ERROR) << what << ": " << ng_status_name(got);
    EXPECT_STRNE(ng_last_error(), "") << what;
  }

  std::uint64_t memory_ = 0;
};

// Every function with the field at `bad`.
using Calls = std::vector<std::function<ng_status()>>;

TEST_F(CSizes, Convolutions) {
  ng_conv_problem p = NG_CONV_PROBLEM_INIT;
  p.n = 2, p.c = 4, p.k = 4, p.groups = 2;
  p.in[1] = p.in[2] = 5, p.filter[1] = p.filter[2] = 3;
  std::array<std::int64_t, 3> out = {-7, -7, -7};
  std::size_t bytes = 99;
  const Calls calls = {[&] { return ng_conv_out(&p, out.data()); },
                       [&] { return ng_conv_workspace(NG_FPROP, &p, &bytes); },
                       [&] { return ng_conv_workspace(NG_BPROP, &p, &bytes); },
                       [&] { return ng_conv_workspace(NG_UPDATE, &p, &bytes); },
                       [&] { return ng_conv_sums_workspace(NG_FPROP, &p, &bytes); },
                       [&] { return ng_conv_sums_workspace(NG_BPROP, &p, &bytes); },
                       [&] { return ng_conv_fprop(&p, memory_, memory_ + 4096, memory_ + 8192, nullptr); },
                       [&] { return ng_conv_bprop(&p, memory_, memory_ + 4096, memory_ + 8192, nullptr); },
                       [&] { return ng_conv_update(&p, memory_, memory_ + 4096, memory_ + 8192, nullptr); }};
  for (const auto& call : calls) ASSERT_EQ(call(), NG_OK) << ng_last_error();
  out = {-7, -7, -7}, bytes = 99;
  std::vector<std::pair<const char*, std::int64_t*>> fields = {
      {"n", &p.n}, {"c", &p.c}, {"k", &p.k}, {"groups", &p.groups}, {"x_pitch", &p.x_pitch}, {"y_pitch", &p.y_pitch}};
  for (std::size_t i = 0; i < 3; ++i) {
    fields.insert(fields.end(), {{"in", &p.in[i]},
                                 {"filter", &p.filter[i]},
                                 {"pad", &p.pad[i]},
                                 {"stride", &p.stride[i]},
                                 {"dilation", &p.dilation[i]}});
  }
  for (const auto& [name, field] : fields) {
    const std::int64_t kept = *field;
    std::vector<std::int64_t> bad(kNever.begin(), kNever.end());
    bad.push_back(std::int64_t{1} << 31);
    const std::string which(name);
    if (which.ends_with("pitch")) {
      bad.push_back(3);  // less than the channels
    } else if (which != "pad") {
      bad.push_back(0);
    }
    if (which == "groups") bad.push_back(3);
    for (const std::int64_t value : bad) {
      *field = value;
      for (std::size_t i = 0; i < calls.size(); ++i) {
        refused(calls[i](), std::string(name) + " = " + std::to_string(value) + ", call " + std::to_string(i));
      }
    }
    *field = kept;
  }
  EXPECT_EQ(out, (std::array<std::int64_t, 3>{-7, -7, -7}));
  EXPECT_EQ(bytes, 99U);
}

TEST_F(CSizes, Pools) {
  ng_pool_problem p = NG_POOL_PROBLEM_INIT;
  p.n = 2, p.in[0] = 4, p.in[3] = 6, p.window[3] = 2;
  std::array<std::int64_t, 4> out = {-7, -7, -7, -7};
  const Calls calls = {[&] { return ng_pool_out(&p, out.data()); },
                       [&] { return ng_pool_fprop(&p, memory_, memory_ + 4096, nullptr); },
                       [&] { return ng_pool_bprop(&p, memory_, memory_ + 4096, memory_ + 8192, nullptr); }};
  for (const auto& call : calls) ASSERT_EQ(call(), NG_OK) << ng_last_error();
  out = {-7, -7, -7, -7};
  std::vector<std::pair<const char*, std::int64_t*>> fields = {{"n", &p.n}};
  for (std::size_t i = 0; i < 4; ++i) {
    fields.insert(fields.end(),
                  {{"in", &p.in[i]}, {"window", &p.window[i]}, {"pad", &p.pad[i]}, {"stride", &p.stride[i]}});
  }
  for (const auto& [name, field] : fields) {
    const std::int64_t kept = *field;
    std::vector<std::int64_t> bad(kNever.begin(), kNever.end());
    bad.push_back(std::int64_t{1} << 31);
    if (std::string(name) != "pad") bad.push_back(0);
    for (const std::int64_t value : bad) {
      *field = value;
      for (const auto& call : calls) refused(call(), std::string(name) + " = " + std::to_string(value));
    }
    *field = kept;
  }
  EXPECT_EQ(out, (std::array<std::int64_t, 4>{-7, -7, -7, -7}));
}

TEST_F(CSizes, Products) {
  ng_gemm_problem p = NG_GEMM_PROBLEM_INIT;
  p.a = memory_, p.b = memory_ + 4096, p.c = memory_ + 8192;
  p.m = p.n = p.k = 8, p.lda = p.ldb = p.ldc = 8;
  p.batch = 2, p.stride_a = p.stride_b = p.stride_c = 64;
  std::size_t bytes = 99;
  ng_gemm_plan* plan = nullptr;
  const ng_gemm_problem* const one[] = {&p};
  const Calls calls = {[&] { return ng_gemm_workspace(&p, &bytes); }, [&] { return ng_gemm(&p, 0); },
                       [&] { return ng_gemm_plan_create(&p, &plan); }, [&] { return ng_gemm_grouped(one, 1, 0, 0, 0); },
                       [&] { return ng_gemm_grouped_workspace(one, 1, &bytes); }};
  for (const auto& call : calls) ASSERT_EQ(call(), NG_OK) << ng_last_error();
  ng_gemm_plan_destroy(plan);
  plan = nullptr, bytes = 99;
  // What follows is part of every number that is asked for: strides of a batch may be 0, not below.
  const std::vector<std::pair<const char*, std::int64_t*>> fields = {{"m", &p.m},
                                                                     {"n", &p.n},
                                                                     {"k", &p.k},
                                                                     {"lda", &p.lda},
                                                                     {"ldb", &p.ldb},
                                                                     {"ldc", &p.ldc},
                                                                     {"splits", &p.splits},
                                                                     {"batch", &p.batch},
                                                                     {"stride_a", &p.stride_a},
                                                                     {"stride_b", &p.stride_b},
                                                                     {"stride_c", &p.stride_c}};
  for (const auto& [name, field] : fields) {
    const std::int64_t kept = *field;
    for (const std::int64_t value : kNever) {
      *field = value;
      for (std::size_t i = 0; i < calls.size(); ++i) {
        refused(calls[i](), std::string(name) + " = " + std::to_string(value) + ", call " + std::to_string(i));
      }
    }
    *field = kept;
  }
  EXPECT_EQ(plan, nullptr);
  EXPECT_EQ(bytes, 99U);
  refused(ng_gemm_grouped(one, std::size_t{1} << 61, 0, 0, 0), "count");
}

TEST_F(CSizes, Tensors) {
  ng_tensor a = NG_TENSOR_INIT, b = NG_TENSOR_INIT, c = NG_TENSOR_INIT;
  ng_tensor* const all[] = {&a, &b, &c};
  for (std::size_t i = 0; i < 3; ++i) {
    all[i]->address = memory_ + 4096 * i;
    all[i]->ndim = 3;
    all[i]->shape[0] = 2, all[i]->shape[1] = all[i]->shape[2] = 4;
    all[i]->strides[0] = 16, all[i]->strides[1] = 4, all[i]->strides[2] = 1;
  }
  std::size_t bytes = 99;
  const Calls calls = {[&] { return ng_matmul_workspace(&a, &b, &c, &bytes); },
                       [&] { return ng_matmul(&a, &b, &c, 0, 0, 0); }};
  for (const auto& call : calls) ASSERT_EQ(call(), NG_OK) << ng_last_error();
  bytes = 99;
  for (ng_tensor* t : all) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (std::int64_t* field : {&t->shape[axis], &t->strides[axis]}) {
        const std::int64_t kept = *field;
        for (const std::int64_t value : kNever) {
          *field = value;
          for (const auto& call : calls)
            refused(call(), "axis " + std::to_string(axis) + " at " + std::to_string(value));
        }
        *field = kept;
      }
    }
    for (const std::int32_t ndim : {-1, 0, 1, 9, std::numeric_limits<std::int32_t>::max()}) {
      t->ndim = ndim;
      for (const auto& call : calls) refused(call(), "ndim " + std::to_string(ndim));
    }
    t->ndim = 3;
  }
  EXPECT_EQ(bytes, 99U);
}

TEST_F(CSizes, Memory) {
  std::uint64_t address = 5;
  for (const std::size_t bytes : {std::size_t{1} << 50, std::size_t{1} << 63, ~std::size_t{0}}) {
    EXPECT_EQ(ng_malloc(&address, bytes), NG_OUT_OF_MEMORY) << ng_last_error();
    EXPECT_EQ(address, 0U);
    std::byte here{};
    refused(ng_upload(memory_, &here, bytes), "upload");
    refused(ng_download(&here, memory_, bytes), "download");
  }
}

}  // namespace
}  // namespace nervanagpu

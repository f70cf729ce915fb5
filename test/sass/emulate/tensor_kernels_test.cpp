// Kernels that ptxas made (data) on the emulator: single instructions of every type against hashes of what an
// H200 computed, whole products against the model, and checked mode.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "sass/emulate/emulate.h"
#include "sass/emulate/tensor/tensor_fast.h"
#include "test/sass/emulate/tensor_cases.h"

namespace nervanagpu::sass::emulate::tensor {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

CubinImage read(const std::string& name) {
  std::ifstream file(NG_SOURCE_DIR "/test/sass/emulate/data/" + name, std::ios::binary);
  const std::vector<std::uint8_t> bytes((std::istreambuf_iterator<char>(file)), {});
  Result<CubinImage> image = read_cubin(bytes.data(), bytes.size());
  EXPECT_TRUE(image.ok()) << name << (image.ok() ? "" : image.error().text());
  return image.ok() ? *image : CubinImage{};
}

std::shared_ptr<const Kernel> kernel_of(const CubinImage& image, const std::string& part) {
  for (const KernelImage& k : image.kernels) {
    if (k.name != part && k.name.find("tileI" + part) == std::string::npos) continue;
    Result<std::shared_ptr<const Kernel>> loaded = load(image.arch, k);
    EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().text());
    return loaded.ok() ? *loaded : nullptr;
  }
  ADD_FAILURE() << "no kernel " << part;
  return nullptr;
}

// Device memory with what a test puts there.
class Device {
 public:
  template <class T>
  u64 put(const std::vector<T>& v) {
    const u64 at = memory_.allocate(v.size() * sizeof(T));
    std::memcpy(memory_.host(at, v.size() * sizeof(T)), v.data(), v.size() * sizeof(T));
    return at;
  }
  template <class T>
  std::vector<T> get(u64 at, std::size_t count) {
    std::vector<T> v(count);
    std::memcpy(v.data(), memory_.host(at, count * sizeof(T)), count * sizeof(T));
    return v;
  }
  std::vector<Finding> run(const Kernel& k, Dim3 grid, const std::vector<u64>& pointers, const std::vector<u32>& more,
                           emulate::Mode mode) {
    std::vector<std::byte> params(pointers.size() * 8 + more.size() * 4);
    std::memcpy(params.data(), pointers.data(), pointers.size() * 8);
    if (!more.empty()) std::memcpy(params.data() + pointers.size() * 8, more.data(), more.size() * 4);
    const Result<Report> r =
        emulate::run(k, memory_, Launch{.grid = grid, .block = block, .params = params, .mode = mode});
    EXPECT_TRUE(r.ok()) << (r.ok() ? "" : r.error().text());
    return r.ok() ? r->findings : std::vector<Finding>{};
  }
  Dim3 block{128};

 private:
  Memory memory_{std::size_t{64} << 20};
};

void append(std::vector<std::byte>& to, u64 v, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) to.push_back(static_cast<std::byte>(v >> 8 * i));
}

struct Tiles {
  std::vector<std::byte> a, b, c;
};

Tiles tiles_of(const probe::Case& x, u64 seed, u64 tiles) {
  Tiles t;
  for (u64 i = 0; i < tiles; ++i) {
    for (unsigned m = 0; m < x.m; ++m) {
      for (unsigned k = 0; k < x.k; ++k)
        append(t.a, probe::operand_bits(x.a, seed, i, 0, m, k), probe::bits_of(x.a) / 8);
      for (unsigned n = 0; n < x.n; ++n)
        append(t.c, probe::addend_bits(x.c, x.a, seed, i, m, n), probe::bits_of(x.c) / 8);
    }
    for (unsigned n = 0; n < x.n; ++n) {
      for (unsigned k = 0; k < x.k; ++k)
        append(t.b, probe::operand_bits(x.b, seed, i, 1, n, k), probe::bits_of(x.b) / 8);
    }
  }
  return t;
}

u64 hash_of(const std::vector<std::byte>& out, unsigned bytes) {
  u64 hash = probe::kFoldStart;
  for (std::size_t i = 0; i < out.size(); i += bytes) {
    u64 v = 0;
    std::memcpy(&v, &out[i], bytes);
    hash = probe::fold(hash, v);
  }
  return hash;
}

TEST(TensorKernels, EveryInstructionEqualsTheChip) {
  const CubinImage image = read("tiles.cubin");
  const auto chip = chip_digests();
  for (unsigned i = 0; i < probe::kCaseCount; ++i) {
    const probe::Case& x = probe::kCases[i];
    const auto kernel = kernel_of(image, "Li" + std::to_string(i) + "E");
    ASSERT_NE(kernel, nullptr) << x.name;
    const u32 tiles = probe::kChunk / (x.m * x.n);
    const unsigned bytes = probe::bits_of(x.c) / 8;
    const Tiles t = tiles_of(x, 2026, tiles);
    Device device;
    device.block = {x.kind == probe::Kind::kMma ? 32u : 128u};
    const u64 a = device.put(t.a);
    const u64 b = device.put(t.b);
    const u64 c = device.put(t.c);
    const u64 out = device.put(std::vector<std::byte>(t.c.size(), std::byte{0xcd}));
    device.run(*kernel, {tiles}, {a, b, c, out}, {}, emulate::Mode::kFast);
    const auto result = device.get<std::byte>(out, t.c.size());
    EXPECT_EQ(hash_of(result, bytes), chip.at(x.name)[0]) << x.name;
    // Checked mode: the same, and nothing to complain about.
    const u32 few = 4;
    device.run(*kernel, {few}, {a, b, c, c}, {}, emulate::Mode::kChecked);
    for (const Finding& f : device.run(*kernel, {few}, {a, b, device.put(t.c), out}, {}, emulate::Mode::kChecked)) {
      ADD_FAILURE() << x.name << ": " << f.text();
    }
    const std::size_t size = std::size_t{few} * x.m * x.n * bytes;
    EXPECT_EQ(device.get<std::byte>(out, size), device.get<std::byte>(out, size));
    EXPECT_TRUE(std::equal(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(size),
                           device.get<std::byte>(out, size).begin()))
        << x.name;
  }
}

// C = A B in steps of 16, each one instruction; B by columns.
std::vector<u32> product(const std::vector<std::uint16_t>& a, const std::vector<std::uint16_t>& b, unsigned m,
                         unsigned n, unsigned k, bool b_by_rows) {
  std::vector<u32> c(std::size_t{m} * n);
  const auto pa = std::make_unique<PanelA>();
  const auto pb = std::make_unique<PanelB>();
  for (unsigned k0 = 0; k0 < k; k0 += 16) {
    pb->range.fill(Range{});
    for (unsigned i = 0; i < 16; ++i) {
      for (unsigned j = 0; j < n; ++j) {
        const Number v = decode(Type::kF16, b_by_rows ? b[(k0 + i) * n + j] : b[j * k + k0 + i]);
        pb->value[i][j] = v.value;
        pb->exponent[i][j] = v.exponent;
        pb->range[j / 8].add(v);
      }
    }
    for (unsigned m0 = 0; m0 < m; m0 += kRows) {
      Accumulators cd{};
      for (unsigned r = 0; r < kRows; ++r) {
        pa->range[r] = Range{};
        for (unsigned i = 0; i < 16; ++i) {
          const Number v = decode(Type::kF16, a[(m0 + r) * k + k0 + i]);
          pa->value[r][i] = v.value;
          pa->exponent[r][i] = v.exponent;
          pa->range[r].add(v);
        }
        std::memcpy(cd[r].data(), &c[std::size_t{m0 + r} * n], n * sizeof(u32));
      }
      fastest()(*pa, *pb, n, 16, cd, Mode{});
      for (unsigned r = 0; r < kRows; ++r) std::memcpy(&c[std::size_t{m0 + r} * n], cd[r].data(), n * sizeof(u32));
    }
  }
  return c;
}

std::vector<std::uint16_t> halves(std::size_t count, u64 seed) {
  std::vector<std::uint16_t> v(count);
  for (std::size_t i = 0; i < count; ++i) {
    v[i] = static_cast<std::uint16_t>(probe::float_bits(probe::Format::kF16, probe::mix(seed + i), 5, 18));
  }
  return v;
}

void expect_product(const std::string& name, unsigned m, unsigned n, unsigned k, bool b_by_rows, bool with_k) {
  const auto kernel = kernel_of(read("gemm.cubin"), name);
  ASSERT_NE(kernel, nullptr);
  const auto a = halves(std::size_t{m} * k, 1);
  const auto b = halves(std::size_t{n} * k, 1u << 20);
  const std::vector<u32> want = product(a, b, m, n, k, b_by_rows);
  std::vector<u32> more = {n};
  if (with_k) more.push_back(k);
  for (const emulate::Mode mode : {emulate::Mode::kFast, emulate::Mode::kChecked}) {
    Device device;
    const u64 out = device.put(std::vector<u32>(want.size(), 0x7fc00000));
    const auto findings = device.run(*kernel, {n / 64, m / 64}, {device.put(a), device.put(b), out}, more, mode);
    for (const Finding& f : findings) ADD_FAILURE() << name << ": " << f.text();
    EXPECT_TRUE(device.get<u32>(out, want.size()) == want) << name;
  }
}

TEST(TensorKernels, ProductsAreTheModelsBitForBit) {
  expect_product("gemm_mma", 128, 192, 128, true, true);
  expect_product("gemm_wgmma", 128, 192, 256, false, false);
  expect_product("gemm_wgmma_transposed", 128, 192, 256, true, false);
}

TEST(TensorKernels, AStageFilledTooEarlyIsFound) {
  const auto kernel = kernel_of(read("gemm.cubin"), "gemm_wgmma_early");
  ASSERT_NE(kernel, nullptr);
  Device device;
  const auto a = device.put(halves(64 * 256, 1));
  const auto b = device.put(halves(64 * 256, 2));
  const auto findings =
      device.run(*kernel, {1}, {a, b, device.put(std::vector<u32>(64 * 64))}, {64}, emulate::Mode::kChecked);
  bool found = false;
  for (const Finding& f : findings) {
    if (f.what != "shared memory in use by HGMMA") continue;
    found = true;
    EXPECT_NE(f.detail.find("is read by HGMMA.64x64x16.F32"), std::string::npos) << f.detail;
    EXPECT_NE(f.detail.find("which WARPGROUP.DEPBAR has not awaited"), std::string::npos) << f.detail;
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::tensor

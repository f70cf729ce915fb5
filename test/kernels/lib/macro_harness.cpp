#include "test/kernels/lib/macro_harness.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include "sass/asm/pipeline.h"

namespace nervanagpu::test {
namespace {

using namespace sass;

constexpr std::uint32_t kThreads = 128;
constexpr std::uint32_t kPoison = 0xdeadbeef;

std::string text_of(const MacroRun& run) {
  std::string t =
      ".kernel probe\n.arch sm_90a, sm_52\n.param u64 in\n.param u64 out\n.param u32 count\n.param u32 p0\n"
      ".param u32 p1\n.param u32 p2\n.param u32 p3\n.threads 128\n" +
      run.front +
      ".include \"lib/ops.sass\"\n.include \"lib/philox.sass\"\n.include \"lib/round.sass\"\n"
      ".reg x[8] align 4, y[8] align 4\n.reg i, at\n.reg from[2] align 2, to[2] align 2\n.pred outside\n"
      "begin()\nS2R i, SR_TID.X\nS2R at, SR_CTAID.X\nimad(at, at, 128, i)\nmov(from[0], param[count])\n"
      "ISETP.GE.U32.AND outside, PT, at, from[0], PT\nexit_if(outside)\n"
      "mov(from[0], param[in])\nmov(from[1], param[in+4])\nmov(to[0], param[out])\nmov(to[1], param[out+4])\n"
      "addr(from, from, at, 32)\naddr(to, to, at, 32)\nldg(x, from, 0, b128)\nldg(x[4], from, 16, b128)\n"
      "mov(i, at)\n";
  for (unsigned k = 0; k < 8; ++k) t += "mov(y[" + std::to_string(k) + "], 0xdeadbeef)\n";
  t += run.body;
  t += "stg(to, y, 0, b128)\nstg(to, y[4], 16, b128)\nEXIT\n";
  return t;
}

Template probe(const MacroRun& run) {
  Template source;
  source.name = "probe.sass";
  source.text = text_of(run);
  source.include = [](const std::string& path) -> Result<std::string> {
    std::ifstream file(std::string(NG_SOURCE_DIR "/kernels/") + path);
    if (!file) return error("there is no file `" + path + "`");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  };
  return source;
}

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
  const auto at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

}  // namespace

std::vector<Words> run_macros(const MacroRun& run, Arch arch, emulate::Mode mode) {
  const std::size_t count = run.in.at(0).size();
  std::vector<Words> out(run.outs, Words(count, 0));
  const Result<KernelImage> image = assemble_variant(probe(run), arch, {});
  if (!image.ok()) {
    ADD_FAILURE() << image.error().text() << "\n" << run.body;
    return out;
  }
  const auto kernel = emulate::load(arch, *image);
  if (!kernel.ok()) {
    ADD_FAILURE() << kernel.error().text() << "\n" << run.body;
    return out;
  }
  emulate::Memory memory(count * 64 + (1 << 20));
  const std::uint64_t in_at = memory.allocate(count * 32);
  const std::uint64_t out_at = memory.allocate(count * 32);
  Words flat(count * 8, kPoison);
  for (std::size_t k = 0; k < run.in.size(); ++k) {
    for (std::size_t i = 0; i < count; ++i) flat[i * 8 + k] = run.in[k].at(i);
  }
  std::memcpy(memory.host(in_at, count * 32), flat.data(), count * 32);
  std::memset(memory.host(out_at, count * 32), 0xcd, count * 32);
  std::vector<std::byte> params;
  append(params, in_at);
  append(params, out_at);
  append(params, static_cast<std::uint32_t>(count));
  for (std::size_t k = 0; k < 4; ++k) append(params, k < run.params.size() ? run.params[k] : kPoison);
  const auto ctas = static_cast<std::uint32_t>((count + kThreads - 1) / kThreads);
  const auto report =
      emulate::run(**kernel, memory, {.grid = {ctas, 1, 1}, .block = {kThreads, 1, 1}, .params = params, .mode = mode});
  if (!report.ok()) {
    ADD_FAILURE() << report.error().text() << "\n" << run.body;
    return out;
  }
  for (const emulate::Finding& f : report->findings) ADD_FAILURE() << f.text() << "\n" << run.body;
  std::memcpy(flat.data(), memory.host(out_at, count * 32), count * 32);
  for (std::size_t k = 0; k < run.outs; ++k) {
    for (std::size_t i = 0; i < count; ++i) out[k][i] = flat[i * 8 + k];
  }
  return out;
}

void expect_macros(const MacroRun& run, const std::vector<Words>& expected) {
  const std::size_t count = run.in.at(0).size();
  ASSERT_EQ(expected.size(), run.outs);
  for (const Arch arch : kArchs) {
    const auto compare = [&](const MacroRun& part, emulate::Mode mode) {
      const std::vector<Words> got = run_macros(part, arch, mode);
      for (unsigned k = 0; k < run.outs; ++k) {
        for (std::size_t i = 0; i < part.in[0].size(); ++i) {
          if (got[k][i] == expected[k].at(i)) continue;
          std::ostringstream inputs;
          inputs << std::hex;
          for (const Words& x : part.in) inputs << " " << x[i];
          ADD_FAILURE() << info(arch).name << ", y[" << k << "] of thread " << i << ": " << std::hex << got[k][i]
                        << ", expected " << expected[k][i] << "; inputs" << inputs.str() << "\n"
                        << run.body;
          return;
        }
      }
    };
    compare(run, emulate::Mode::kFast);
    MacroRun part = run;
    for (Words& x : part.in) x.resize(std::min<std::size_t>(count, 256));
    compare(part, emulate::Mode::kChecked);
  }
}

Words edges() {
  Words out;
  for (const std::uint32_t base : {0u, 0x80u, 0x8000u, 0x10000u, 0x80000u, 0x7fffffffu, 0x80000000u, 0xffff0000u}) {
    for (const std::uint32_t off : {~1u, ~0u, 0u, 1u, 2u}) out.push_back(base + off);
  }
  for (const std::uint32_t x : {7u, 31u, 32u, 33u, 255u, 12345u, 0x12345678u, 0xaaaaaaaau, 0x55555555u})
    out.push_back(x);
  return out;
}

Words random_words(std::uint32_t seed, std::size_t count) {
  std::mt19937 random(seed);
  Words out(count);
  for (std::uint32_t& x : out) {
    x = random();
    if (random() % 4 == 0) x >>= random() % 32;
  }
  return out;
}

std::vector<Words> pairs(const Words& edges, std::uint32_t seed, std::size_t count) {
  std::vector<Words> out(2);
  for (const std::uint32_t a : edges) {
    for (const std::uint32_t b : edges) {
      out[0].push_back(a);
      out[1].push_back(b);
    }
  }
  const Words a = random_words(seed, count), b = random_words(seed + 1, count);
  out[0].insert(out[0].end(), a.begin(), a.end());
  out[1].insert(out[1].end(), b.begin(), b.end());
  return out;
}

Words float_edges() {
  Words out;
  for (const std::uint32_t base :
       {0x00000000u, 0x00800000u, 0x01000000u, 0x33000000u, 0x33800000u, 0x38000000u, 0x38800000u,
        0x3f000000u, 0x3f800000u, 0x40000000u, 0x40400000u, 0x477fe000u, 0x477ff000u, 0x47800000u,
        0x4b000000u, 0x4f000000u, 0x4f800000u, 0x7e800000u, 0x7f000000u, 0x7f800000u}) {
    for (const std::uint32_t off : {~1u, ~0u, 0u, 1u, 2u}) {
      out.push_back((base + off) & 0x7fffffffu);
      out.push_back((base + off) | 0x80000000u);
    }
  }
  for (const std::uint32_t x :
       {0x007fffffu, 0x00400000u, 0x003fffffu, 0x7fc00000u, 0x7f800001u, 0x7fffffffu, 0x42280000u}) {
    out.push_back(x);
    out.push_back(x | 0x80000000u);
  }
  return out;
}

}  // namespace nervanagpu::test

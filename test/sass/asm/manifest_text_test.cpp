// The text of a manifest: what is written is read, and damage is refused.
#include "sass/asm/cubin/manifest_text.h"

#include <gtest/gtest.h>

#include "test/sass/images.h"

namespace nervanagpu::sass {
namespace {

constexpr const char* kText =
    "nervanagpu-manifest 1\n"
    "name \"sgemm_nt\"\n"
    "op \"sgemm\"\n"
    "arch sm_90a\n"
    "variant \"BM\" \"128\"\n"
    "param u64 0 \"a\"\n"
    "param f32 8 \"alpha\"\n"
    "threads 256\n"
    "shared 32768\n"
    "registers 0\n"
    "needs \"k % 8 == 0\"\n"
    "accum \"k-order\"\n"
    "bound \"k * eps\"\n";

std::string replaced(std::string_view from, std::string_view to) {
  std::string text = kText;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos);
  return text.replace(at, from.size(), to);
}

TEST(ManifestText, ReadsWhatItWrites) {
  const auto m = read_manifest(kText);
  ASSERT_TRUE(m.ok()) << m.error().text();
  EXPECT_EQ(m->name, "sgemm_nt");
  EXPECT_EQ(m->arch, Arch::sm_90a);
  EXPECT_EQ(m->variant.at("BM"), "128");
  ASSERT_EQ(m->params.size(), 2u);
  EXPECT_EQ(m->params[1], (Param{"alpha", ParamType::f32, 8}));
  EXPECT_EQ(m->threads, 256u);
  EXPECT_EQ(manifest_text(*m), kText);
}

TEST(ManifestText, ClusterIsWrittenWhereThereIsOne) {
  const auto m = read_manifest(replaced("registers 0\n", "registers 0\ncluster 4\n"));
  ASSERT_TRUE(m.ok()) << m.error().text();
  EXPECT_EQ(m->cluster, 4u);
  EXPECT_EQ(read_manifest(manifest_text(*m))->cluster, 4u);
  EXPECT_EQ(read_manifest(kText)->cluster, 1u);
  const auto early = read_manifest(replaced("registers 0\n", "registers 0\nlaunch \"programmatic\"\n"));
  ASSERT_TRUE(early.ok());
  EXPECT_TRUE(early->programmatic);
  EXPECT_TRUE(read_manifest(manifest_text(*early))->programmatic);
  EXPECT_FALSE(read_manifest(kText)->programmatic);
  EXPECT_FALSE(read_manifest(replaced("registers 0\n", "registers 0\nlaunch \"late\"\n")).ok());
}

TEST(ManifestText, RandomManifestsSurvive) {
  RandomImages random(1);
  for (int i = 0; i < 500; ++i) {
    const Manifest m = random.kernel(Arch::sm_52, "k").manifest;
    const auto back = read_manifest(manifest_text(m));
    ASSERT_TRUE(back.ok()) << back.error().text() << manifest_text(m);
    expect_same(m, *back);
  }
}

TEST(ManifestText, RefusesEveryCutAndDisorder) {
  const std::string text = kText;
  for (std::size_t n = 0; n < text.size(); ++n) EXPECT_FALSE(read_manifest(text.substr(0, n)).ok()) << n;
  const std::pair<std::string, const char*> cases[] = {
      {replaced("manifest 1", "manifest 2"), "manifest, line 1: version 2, need 1"},
      {replaced("op \"sgemm\"\n", ""), "manifest, line 3: record 'op' is missing"},
      {replaced("arch sm_90a", "arch 90a"), "manifest, line 4: unknown architecture"},
      {replaced("param u64 0", "param u65 0"), "manifest, line 6: unknown parameter type"},
      {replaced("param u64 0", "param u64 65536"), "manifest, line 6: '65536' is not a number up to 65535"},
      {replaced("threads 256", "threads 0256"), "manifest, line 8: '0256' is not a number up to 4294967295"},
      {replaced("threads 256", "threads 4294967296"),
       "manifest, line 8: '4294967296' is not a number up to 4294967295"},
      {replaced("threads 256", "threads -1"), "manifest, line 8: '-1' is not a number up to 4294967295"},
      {replaced("threads 256", "threads  256"), "manifest, line 8: a field is empty"},
      {replaced("threads 256", "threads 256 "), "manifest, line 8: unexpected text after the last field"},
      {replaced("threads 256\n", "threads 256\n\n"), "manifest, line 9: empty line"},
      {replaced("\"128\"\n", "\"128\"\nvariant \"BM\" \"64\"\n"), "manifest, line 6: a variant name comes twice"},
      {replaced("k-order", "\\k"), "manifest, line 12: unknown escape in a string"},
      {replaced("k-order", "\\x0"), "manifest, line 12: \\x needs two hex digits"},
      {replaced("k-order\"", "k-order"), "manifest, line 12: a string has no end"},
      {text + "more 1\n", "manifest, line 14: text after the last record"},
  };
  for (const auto& [bad, message] : cases) {
    const auto m = read_manifest(bad);
    ASSERT_FALSE(m.ok()) << message;
    EXPECT_EQ(m.error().message, message);
  }
}

}  // namespace
}  // namespace nervanagpu::sass

// Templates that ask for too much, and texts that are no templates: one clear error, soon.
#include <gtest/gtest.h>

#include <ctime>
#include <random>

#include "test/sass/asm/template_text.h"

namespace nervanagpu::sass {
namespace {

// What expanding and parsing says, and that it says so within `seconds` of processor time (generous: sanitizers).
std::string verdict(const std::string& text, double seconds = 60) {
  const std::clock_t start = std::clock();
  std::string out = "ok";
  const Result<Expansion> e = expand(testing::template_of(text), Arch::sm_90a, {});
  if (!e.ok()) {
    out = e.error().text();
  } else if (const Result<Program> p = parse(*e); !p.ok()) {
    out = p.error().text();
  }
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, seconds) << out;
  return out.substr(0, out.find('\n'));
}

TEST(Limits, Loops) {
  EXPECT_EQ(verdict(".kernel k\n.for i in 0..1000000000\n.end\nEXIT\n"),
            "k.sass:2:1: error: the template takes more than 5000000 steps to expand; is a loop too long?");
  EXPECT_EQ(verdict(".kernel k\n.for i in 0..100000\n.for j in 0..100000\n.let x = i * j\n.end\n.end\nEXIT\n"),
            "k.sass:3:1: error: the template takes more than 5000000 steps to expand; is a loop too long?");
}

TEST(Limits, Lines) {
  EXPECT_EQ(verdict(".kernel k\n.for i in 0..1000001\nNOP\n.end\nEXIT\n"),
            "k.sass:3:1: error: the template expands to more than 1000000 lines");
  EXPECT_EQ(verdict(".kernel k\n.for i in 0..100000\nNOP " + std::string(3000, 'x') + "\n.end\nEXIT\n"),
            "k.sass:3:1: error: the template expands to more than 67108864 bytes");
}

TEST(Limits, Recursion) {
  EXPECT_NE(verdict(".kernel k\n.macro m(a)\nm(a + 1)\n.end\nm(0)\nEXIT\n").find("nested deeper than 16 levels"),
            std::string::npos);
  EXPECT_EQ(verdict(".kernel k\n.include \"self.sass\"\nEXIT\n"),
            "self.sass:1:1: error: macros and includes nested deeper than 16 levels");
  // Two calls in each: 2^16 calls, all within the depth.
  EXPECT_EQ(verdict(".kernel k\n.macro m(n)\n.if n < 15\nm(n + 1)\nm(n + 1)\n.end\n.end\nm(0)\nEXIT\n"), "ok");
}

TEST(Limits, TextThatDoubles) {
  EXPECT_NE(verdict(".kernel k\n.macro m(n, t)\n.if n < 15\nm(n + 1, \"{t}{t}{t}{t}\")\n.else\nNOP {t}\n.end\n.end\n"
                    "m(0, \"xxxxxxxxxxxxxxxx\")\nEXIT\n")
                .find("expands to more than 65536 bytes"),
            std::string::npos);
}

TEST(Limits, Blocks) {
  std::string deep = ".kernel k\n";
  for (int i = 0; i < 100000; ++i) deep += ".if 1\n";
  EXPECT_EQ(verdict(deep), "k.sass:66:1: error: blocks nested deeper than 64 levels");
}

TEST(Limits, LabelStorm) {
  std::string storm = ".kernel k\n.for i in 0..200000\nl_{i}:\n.end\nEXIT\n";
  EXPECT_EQ(verdict(storm), "ok");
}

TEST(Limits, LongTokensAndLines) {
  EXPECT_EQ(verdict(".kernel k\n" + std::string(1 << 20, 'A') + "\n"),
            "k.sass:2:1: error: line longer than 16384 bytes");
  EXPECT_EQ(verdict(".kernel k\n.let " + std::string(16000, 'a') + " = 1\nEXIT\n"), "ok");
  EXPECT_EQ(verdict(".kernel k\n.let a = " + std::string(16000, '9') + "\nEXIT\n"),
            "k.sass:2:10: error: `" + std::string(40, '9') + "` is not a 64-bit integer (12, 0x1f, 0b101)");
  EXPECT_EQ(verdict(".kernel " + std::string(300, 'k') + "\nEXIT\n"),
            "k.sass:1:9: error: `" + std::string(60, 'k') + "` is no kernel name; names have letters, digits and _");
  EXPECT_EQ(verdict(std::string((16u << 20) + 1, '\n')),
            "k.sass: error: the file has 16777217 bytes; 16777216 is the most");
}

TEST(Limits, BytesThatAreNoText) {
  using namespace std::string_literals;
  EXPECT_EQ(verdict("EXIT\n\xff"), "k.sass:2:1: error: byte 0xff is not UTF-8");
  EXPECT_EQ(verdict("// \xc3\x28"), "k.sass:1:4: error: byte 0xc3 is not UTF-8");
  EXPECT_EQ(verdict("// \xc0\x80"), "k.sass:1:4: error: byte 0xc0 is not UTF-8") << "overlong";
  EXPECT_EQ(verdict("// \xed\xa0\x80"), "k.sass:1:4: error: byte 0xed is not UTF-8") << "surrogate";
  EXPECT_EQ(verdict("// \xf0\x9f\x98"), "k.sass:1:4: error: byte 0xf0 is not UTF-8") << "cut";
  EXPECT_EQ(verdict("EX\0IT"s), "k.sass:1:3: error: control character 0x00; a template is text");
  EXPECT_EQ(verdict("\x7f"), "k.sass:1:1: error: control character 0x7f; a template is text");
  EXPECT_EQ(verdict("\xef\xbb\xbf.kernel k\nEXIT\n"),
            "k.sass:1:1: error: `\xef\xbb\xbf` may stand only in comments and quoted text");
}

// Any bytes in, a value or a Diag out: deletions, repetitions and flips of a template that uses the whole language.
TEST(Limits, DamagedTemplates) {
  const std::string whole =
      ".kernel k_{A}\n.variants A={1,2}\n.param u64 p\n.threads 32\n.needs p > 0, A == 1\n.reg a[4] align 4 bank 0, b "
      "= R9\n"
      ".pred q\n.alias c1 = a[1]\n.const K = c[0x0][0x28]\n.macro m(x, y=2)\nl$:\n  @!q FFMA x, |x|, -a[{y}], {y + "
      "1:x}\n.if y == 2\n"
      "BRA `(l$)\n.elif y\n.else\n.end\n.end\n.for i in 3..0 step -1\n.let j = i % 2 ? i : min(i, 2)\n??:-:{j}:Y:? LDG "
      "a[j], "
      "desc[UR4][b.64+{i * 4:x}]\nm(a[i], y=i)\nm(\"{i}\")\n.end\n.assert 1, \"x\"\n/* c */ MOV b, param[p+4]\n.free "
      "b\nEXIT\n";
  std::mt19937 random(7);
  for (int n = 0; n < 3000; ++n) {
    std::string text = whole;
    for (int k = 0; k < 1 + n % 4; ++k) {
      const std::size_t at = random() % text.size();
      const std::size_t length = std::min<std::size_t>(1 + random() % 12, text.size() - at);
      switch (random() % 4) {
        case 0: text.erase(at, length); break;
        case 1: text.insert(at, text.substr(random() % text.size(), length)); break;
        case 2: text[at] = static_cast<char>(random()); break;
        default: text[at] = "{}[](),.:$`\"=\n@|!-?"[random() % 20]; break;
      }
      if (text.empty()) text = "x";
    }
    const auto all = variants(testing::template_of(text), {});
    const Result<Expansion> e = expand(testing::template_of(text), Arch::sm_90a, {{"A", "1"}});
    const Diag* d = !all.ok() ? &all.error() : !e.ok() ? &e.error() : nullptr;
    if (d != nullptr) {
      EXPECT_FALSE(d->message.empty()) << text;
      EXPECT_GT(d->at.line, 0u) << d->text() << "\n" << text;
      EXPECT_GT(d->at.col, 0u) << d->text() << "\n" << text;
    } else {
      (void)parse(*e).ok();
    }
  }
}

}  // namespace
}  // namespace nervanagpu::sass

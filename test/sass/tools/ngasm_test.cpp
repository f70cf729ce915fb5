// ngasm as its users meet it: exit status, messages, files.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace {

struct Outcome {
  int status = -1;
  std::string out;  // stdout and stderr together
};

class Ngasm : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = std::filesystem::temp_directory_path() / ("ngasm_test_" + std::to_string(::getpid()));
    std::filesystem::create_directories(dir_);
    std::filesystem::current_path(dir_);
    write("scale.sass", kScale);
  }
  void TearDown() override {
    std::filesystem::current_path("/");
    std::filesystem::remove_all(dir_);
  }
  static void write(const std::string& name, const std::string& text) { std::ofstream(name, std::ios::binary) << text; }
  static std::string read(const std::string& name) {
    std::ifstream in(name, std::ios::binary);
    std::ostringstream s;
    s << in.rdbuf();
    return s.str();
  }
  static Outcome ngasm(const std::string& arguments) {
    Outcome o;
    std::FILE* p = ::popen((std::string(NGASM_PATH) + " " + arguments + " 2>&1").c_str(), "r");
    if (p == nullptr) return o;
    char buffer[4096];
    std::size_t n = 0;
    while ((n = std::fread(buffer, 1, sizeof buffer, p)) > 0) o.out.append(buffer, n);
    const int status = ::pclose(p);
    o.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return o;
  }
  static std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }
  // The files of the folder, so that nothing is left behind.
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(dir_), {}));
  }

  // y[i] = alpha * x[i] + i
  static constexpr const char* kScale = R"(.kernel scale_{V}
.arch sm_90a
.variants V={a,b}
.param u64 x
.param u64 y
.param u32 n
.param f32 alpha
.threads 32
.reg px[2] align 2, py[2] align 2, i, cta, v, f
  S2R i, SR_TID.X
  S2R cta, SR_CTAID.X
  ULDC.64 UR4, sys[descriptor]
  IMAD i, cta, 0x20, i
  ISETP.GE.U32.AND P0, PT, i, param[n], PT
  @P0 EXIT
  MOV px[0], param[x]
  MOV px[1], param[x+4]
  IMAD.WIDE.U32 px[0], i, 0x4, px[0]
  LDG.E v, desc[UR4][px[0].64]
  MOV py[0], param[y]
  MOV py[1], param[y+4]
  IMAD.WIDE.U32 py[0], i, 0x4, py[0]
  I2FP.F32.U32 f, i
  FFMA v, v, param[alpha], f
  STG.E desc[UR4][py[0].64], v
  EXIT
)";
  std::filesystem::path dir_;
};

TEST_F(Ngasm, AssemblesDisassemblesVerifies) {
  const Outcome as = ngasm("as scale.sass -o s.cubin");
  ASSERT_EQ(as.status, 0) << as.out;
  EXPECT_EQ(as.out, "");
  EXPECT_EQ(read("s.cubin").substr(1, 3), "ELF");
  EXPECT_EQ(files(), 2u) << "no temporary file is left";
  const Outcome dis = ngasm("dis s.cubin --kernel scale_b");
  EXPECT_EQ(dis.status, 0);
  EXPECT_EQ(first_line(dis.out), "// kernel scale_b for sm_90a");
  EXPECT_NE(dis.out.find("u64 x at 0x210, u64 y at 0x218, u32 n at 0x220, f32 alpha at 0x224"), std::string::npos);
  EXPECT_NE(dis.out.find("//   variant V=b\n"), std::string::npos);
  EXPECT_NE(dis.out.find("S2R R4, SR_TID.X\n"), std::string::npos) << dis.out;
  EXPECT_EQ(dis.out.find("scale_a"), std::string::npos);
  const Outcome verify = ngasm("verify s.cubin");
  EXPECT_EQ(verify.status, 0);
  EXPECT_NE(verify.out.find("scale_a: 32 instructions, proven\nscale_b: 32 instructions, proven\n"), std::string::npos)
      << verify.out;
  EXPECT_EQ(ngasm("roundtrip s.cubin").status, 0);
}

TEST_F(Ngasm, DefinitionsChooseVariants) {
  ASSERT_EQ(ngasm("as scale.sass -o s.cubin -D V=b").status, 0);
  const Outcome verify = ngasm("verify s.cubin");
  EXPECT_EQ(verify.out.find("scale_a"), std::string::npos);
  const Outcome none = ngasm("as scale.sass -o t.cubin -DV=c");
  EXPECT_EQ(none.status, 1);
  EXPECT_EQ(none.out, "scale.sass:3:1: error: no variant has V=c\n  3 | .variants V={a,b}\n    | ^~~~~~~~~\n");
  EXPECT_FALSE(std::filesystem::exists("t.cubin"));
}

TEST_F(Ngasm, AnErrorLeavesTheOldFileAlone) {
  write("s.cubin", "precious");
  write("bad.sass", ".kernel k\nFADD R0, R1\nEXIT\n");
  const Outcome as = ngasm("as bad.sass --arch sm_90a -o s.cubin");
  EXPECT_EQ(as.status, 1);
  EXPECT_EQ(first_line(as.out).substr(0, 18), "bad.sass:2:12: err") << as.out;
  EXPECT_EQ(read("s.cubin"), "precious");
  EXPECT_EQ(files(), 3u);
  EXPECT_EQ(ngasm("as scale.sass -o no/such/folder.cubin").out,
            "ngasm: error: cannot write `no/such/folder.cubin`: No such file or directory\n");
  EXPECT_EQ(ngasm("as scale.sass -o .").status, 1);
}

TEST_F(Ngasm, DumpShowsEachStage) {
  const Outcome expand = ngasm("as scale.sass -D V=a --dump expand");
  EXPECT_EQ(expand.status, 0);
  EXPECT_NE(expand.out.find(".kernel scale_a\n"), std::string::npos);
  EXPECT_NE(expand.out.find("  ISETP.GE.U32.AND P0, PT, R4, c[0x0][0x220], PT\n"), std::string::npos);
  EXPECT_NE(ngasm("as scale.sass -D V=a --dump parse").out.find("--:-:-:-:1   EXIT\n"), std::string::npos);
  EXPECT_NE(ngasm("as scale.sass -D V=a --dump schedule").out.find("EXIT\n"), std::string::npos);
  EXPECT_NE(ngasm("as scale.sass -D V=a --dump encode").out.find("0x000000000000794d 0x"), std::string::npos) << "EXIT";
  EXPECT_NE(ngasm("as scale.sass -D V=a --dump link").out.find("// 1 kernels, "), std::string::npos);
  EXPECT_EQ(ngasm("as scale.sass --dump bits").status, 2);
}

TEST_F(Ngasm, RunsOnTheEmulator) {
  ASSERT_EQ(ngasm("as scale.sass -o s.cubin").status, 0);
  const std::string run = "run s.cubin --kernel scale_a --grid 2 --block 32 --arg f32[40]=iota --arg f32[40]=zeros ";
  for (const std::string mode : {"", "--checked "}) {
    const Outcome o = ngasm(run + mode + "--arg u32=40 --arg f32=0.5 --dump-args");
    ASSERT_EQ(o.status, 0) << o.out;
    EXPECT_NE(o.out.find("arg 1 y f32[40]: min 0, max 58.5, mean 29.25, 0 not finite"), std::string::npos) << o.out;
    EXPECT_NE(o.out.find("  0 1.5 3 4.5 6 7.5"), std::string::npos) << o.out;
  }
  EXPECT_EQ(ngasm(run + "--arg u32=40 --arg f32=0.5 --checked").out.find("0 findings") == std::string::npos, false);
  // One element too many: the checked emulator names it.
  const Outcome over = ngasm(run + "--arg u32=41 --arg f32=0.5 --checked");
  EXPECT_EQ(over.status, 1) << over.out;
  EXPECT_NE(over.out.find("scale.sass:19"), std::string::npos) << over.out;
}

TEST_F(Ngasm, RunAsksTheNeeds) {
  write("needs.sass",
        ".kernel k\n.arch sm_90a\n.param u32 n\n.threads 32\n.needs n % 4 == 0, grid_x == n / 4\n  EXIT\n");
  ASSERT_EQ(ngasm("as needs.sass -o n.cubin").status, 0);
  EXPECT_EQ(ngasm("run n.cubin --grid 2 --block 32 --arg u32=8").status, 0);
  const Outcome o = ngasm("run n.cubin --grid 3 --block 32 --arg u32=8");
  EXPECT_NE(o.status, 0);
  EXPECT_EQ(first_line(o.out), "ngasm: error: kernel k needs grid_x == n / 4; grid_x is 3, n is 8");
}

TEST_F(Ngasm, RunTakesFloatsForFloatsAlone) {
  write("types.sass", R"(.kernel k
.arch sm_90a
.param ptr out
.param f64 a
.param u64 n
.param f32 b
.param s32 m
.threads 32
.reg at[2] align 2, v[2] align 2
  ULDC.64 UR4, sys[descriptor]
  MOV at[0], param[out]
  MOV at[1], param[out+4]
  MOV v[0], param[a]
  MOV v[1], param[a+4]
  DADD v[0], v[0], v[0]
  STG.E.64 desc[UR4][at[0].64], v[0]
  EXIT
)");
  const Outcome as = ngasm("as types.sass -o t.cubin");
  ASSERT_EQ(as.status, 0) << as.out;
  const std::string k = "run t.cubin --grid 1 --block 32 --dump-args ";
  const Outcome run = ngasm(k + "--arg f64[2]=ones --arg f64=1.5 --arg s64=7 --arg f32=0 --arg u32=1");
  ASSERT_EQ(run.status, 0) << run.out;
  EXPECT_NE(run.out.find("\n  3 1\n"), std::string::npos) << run.out;
  const auto message = [&](const std::string& arguments) { return first_line(ngasm(k + arguments).out); };
  EXPECT_EQ(message("--arg f64=1 --arg f64=1 --arg u64=7 --arg f32=0 --arg u32=1"),
            "ngasm: error: parameter 0 `out` is ptr; found f64");
  EXPECT_EQ(message("--arg u64=0 --arg f64=1 --arg f64=1 --arg f32=0 --arg u32=1"),
            "ngasm: error: parameter 2 `n` is u64; found f64");
  EXPECT_EQ(message("--arg u64=0 --arg u64=1 --arg u64=1 --arg f32=0 --arg u32=1"),
            "ngasm: error: parameter 1 `a` is f64; found u64");
  EXPECT_EQ(message("--arg u64=0 --arg f64[1]=ones --arg u64=1 --arg f32=0 --arg u32=1"),
            "ngasm: error: parameter 1 `a` is f64; found f64[1], a pointer");
  EXPECT_EQ(message("--arg u64=0 --arg f64=1 --arg u64=1 --arg u32=0 --arg u32=1"),
            "ngasm: error: parameter 3 `b` is f32; found u32");
  EXPECT_EQ(message("--arg u64=0 --arg f64=1 --arg u64=1 --arg f32=0 --arg f32=1"),
            "ngasm: error: parameter 4 `m` is s32; found f32");
}

TEST_F(Ngasm, RandomIsTheSameEverywhere) {
  ASSERT_EQ(ngasm("as scale.sass -o s.cubin -D V=a").status, 0);
  const std::string run =
      "run s.cubin --grid 1 --block 32 --arg f32[32]=random --arg f32[32]=ones --arg u32=0 --arg f32=1 --dump-args ";
  const Outcome zero = ngasm(run);
  EXPECT_EQ(zero.status, 0) << zero.out;
  EXPECT_EQ(ngasm(run + "--seed 0").out, zero.out);
  EXPECT_NE(ngasm(run + "--seed 1").out, zero.out);
  EXPECT_NE(zero.out.find("fnv 31b71fccdbf4799f"), std::string::npos) << zero.out;
}

TEST_F(Ngasm, BadRuns) {
  ASSERT_EQ(ngasm("as scale.sass -o s.cubin").status, 0);
  const auto message = [](const std::string& arguments) {
    const Outcome o = ngasm("run " + arguments);
    return std::to_string(o.status) + " " + first_line(o.out);
  };
  const std::string k = "s.cubin --kernel scale_a --grid 1 --block 32 ";
  EXPECT_EQ(message("s.cubin --block 32"), "2 ngasm: error: --grid X,Y,Z is missing");
  EXPECT_EQ(message("s.cubin --grid 1"), "2 ngasm: error: --block X,Y,Z is missing");
  EXPECT_EQ(message("s.cubin --grid 1 --block 32"),
            "2 ngasm: error: --kernel NAME is needed; there are scale_a, scale_b");
  EXPECT_EQ(message("s.cubin --kernel x --grid 1 --block 32"),
            "2 ngasm: error: there is no kernel `x`; there are scale_a, scale_b");
  EXPECT_EQ(message("s.cubin --grid 1,0 --block 32"),
            "2 ngasm: error: --grid takes X, X,Y or X,Y,Z from 1 to 2147483647,65535,65535, found `1,0`");
  EXPECT_EQ(message("s.cubin --grid 1,1,1,1 --block 32").substr(0, 30), "2 ngasm: error: --grid takes X");
  EXPECT_EQ(message("s.cubin --grid 1 --block 32,33"), "2 ngasm: error: a block has at most 1024 threads, found 1056");
  EXPECT_EQ(message(k), "2 ngasm: error: `scale_a` has 4 parameters (u64 x, u64 y, u32 n, f32 alpha), found 0 --arg");
  const std::string two = k + "--arg f32[4]=ones --arg f32[4]=ones ";
  EXPECT_EQ(message(two + "--arg u64=1 --arg f32=1"), "2 ngasm: error: parameter 2 `n` has 4 bytes; u64 has 8");
  EXPECT_EQ(message(two + "--arg u32[1]=ones --arg f32=1"),
            "2 ngasm: error: parameter 2 `n` has 4 bytes; u32[1] is a pointer of 8");
  EXPECT_EQ(message(k + "--arg f31=1"),
            "2 ngasm: error: `f31` is no type; there are u8 s8 u16 s16 u32 s32 u64 s64 f16 f32 f64");
  EXPECT_EQ(message(k + "--arg u8=256"), "2 ngasm: error: 256 does not fit in u8");
  EXPECT_EQ(message(k + "--arg s8=-129"), "2 ngasm: error: -129 does not fit in s8");
  EXPECT_EQ(message(k + "--arg u32=1.5"), "2 ngasm: error: `1.5` is no integer for u32");
  EXPECT_EQ(message(k + "--arg f32=one"), "2 ngasm: error: `one` is no number for f32");
  EXPECT_EQ(message(k + "--arg f32[0]=ones").substr(0, 34), "2 ngasm: error: an array has 1 to ");
  EXPECT_EQ(message(k + "--arg f32").substr(0, 60), "2 ngasm: error: --arg takes TYPE[N]=FILL or TYPE=VALUE, foun");
  write("short.bin", "1234567");
  EXPECT_EQ(message(k + "--arg f32[2]=short.bin"), "2 ngasm: error: `short.bin` has 7 bytes; f32[2] needs 8");
  EXPECT_EQ(
      message(k + "--arg f32[2]=twos"),
      "2 ngasm: error: cannot read `twos`: No such file or directory; the contents of f32[2] are zeros, ones, iota, "
      "random or a file");
}

TEST_F(Ngasm, HostileInput) {
  const auto message = [](const std::string& arguments) {
    const Outcome o = ngasm(arguments);
    return std::to_string(o.status) + " " + first_line(o.out);
  };
  ASSERT_EQ(ngasm("as scale.sass -o scale.cubin").status, 0);
  const std::string k = "run scale.cubin --kernel scale_a --grid 1 --block 32 ";
  EXPECT_EQ(message(k + "--arg u32[64]=/dev/zero"),
            "2 ngasm: error: `/dev/zero` is a device; the contents of u32[64] are zeros, ones, iota, random or a file");
  write("long.bin", std::string(257, 'x'));
  EXPECT_EQ(message(k + "--arg u32[64]=long.bin"), "2 ngasm: error: `long.bin` has 257 bytes; u32[64] needs 256");
  const std::string huge = " --arg u8[17179869184]=zeros";
  EXPECT_EQ(message(k + huge + huge + huge + huge + huge + huge + huge + huge).substr(0, 49),
            "2 ngasm: error: u8[17179869184] has 17179869184 b");
  EXPECT_EQ(message("as /dev/zero -o x.cubin"), "1 ngasm: error: `/dev/zero` is a device");
  EXPECT_EQ(message("dis /dev/zero"), "1 ngasm: error: `/dev/zero` is a device");
  EXPECT_EQ(message("verify /dev/urandom"), "1 ngasm: error: `/dev/urandom` is a device");
  ASSERT_EQ(::mkfifo("pipe", 0600), 0);
  EXPECT_EQ(message("as pipe -o x.cubin"), "1 ngasm: error: `pipe` is a pipe");
  std::filesystem::create_directories("inner");
  write("outside.sass", "a secret\n");
  write("inner/k.sass", ".kernel k\n.arch sm_90a\n.include \"../outside.sass\"\n");
  const Outcome refused = ngasm("as inner/k.sass -o x.cubin");
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.out.find("`../outside.sass` is not below a folder that may be included from"), std::string::npos);
  EXPECT_EQ(refused.out.find("a secret"), std::string::npos) << refused.out;
  write("outside.sass", "  EXIT\n");
  EXPECT_EQ(message("as inner/k.sass -I . -o x.cubin"), "0 ");
}

TEST_F(Ngasm, ARunHasALimit) {
  write("loop.sass",
        ".kernel loop\n.arch sm_90a\n.threads 64\n  S2R R0, SR_TID.X\nagain:\n  IADD3 R0, R0, 0x1, RZ\n"
        "  ISETP.NE.AND P0, PT, R0, RZ, PT\n  @P0 BRA again\n  EXIT\n");
  ASSERT_EQ(ngasm("as loop.sass -o loop.cubin").status, 0);
  const std::string run = "run loop.cubin --grid 3 --block 64 --threads 1 ";
  for (const std::string mode : {"", "--checked "}) {
    const Outcome o = ngasm(run + mode + "--limit 100000");
    EXPECT_EQ(o.status, 1);
    EXPECT_NE(o.out.find("not done after 100000 warp instructions, its limit; warp 0 lanes 0xffffffff run in line 6; "
                         "warp 1 lanes 0xffffffff run in line"),
              std::string::npos)
        << o.out;
  }
  EXPECT_EQ(first_line(ngasm(run + "--limit -1").out).substr(0, 44), "ngasm: error: --limit takes a number from 0 ");
  // In an order of a seed the run is always the same, and says which it was.
  const Outcome ordered = ngasm(run + "--limit 100000 --order 7");
  EXPECT_EQ(ordered.status, 1);
  EXPECT_NE(ordered.out.find(" (in order 7)"), std::string::npos) << ordered.out;
  EXPECT_EQ(ngasm(run + "--limit 100000 --order 7").out, ordered.out);
  EXPECT_NE(ngasm(run + "--limit 100000 --order 8").out, ordered.out);
  EXPECT_EQ(first_line(ngasm(run + "--order -1").out),
            "ngasm: error: --order takes a number from 0 to 4294967295, found `-1`");
  // One that ends is not stopped by a limit that it does not reach.
  ASSERT_EQ(ngasm("as scale.sass -o scale.cubin").status, 0);
  const std::string scale =
      "run scale.cubin --kernel scale_a --grid 2 --block 32 --arg f32[64]=ones --arg f32[64]=zeros "
      "--arg u32=64 --arg f32=2 ";
  EXPECT_EQ(ngasm(scale + "--limit 1000").status, 0);
  EXPECT_EQ(ngasm(scale + "--limit 20").status, 1);
}

TEST_F(Ngasm, BadCommandLines) {
  const auto message = [](const std::string& arguments) {
    const Outcome o = ngasm(arguments);
    return std::to_string(o.status) + " " + first_line(o.out);
  };
  EXPECT_EQ(message("").substr(0, 13), "2 usage: ngas");
  EXPECT_EQ(message("assemble"), "2 ngasm: error: there is no command `assemble`");
  EXPECT_EQ(message("as"), "2 ngasm: error: one template is needed, found 0");
  EXPECT_EQ(message("as a b"), "2 ngasm: error: one template is needed, found 2");
  EXPECT_EQ(message("as scale.sass"), "2 ngasm: error: -o OUT.cubin is missing");
  EXPECT_EQ(message("as scale.sass -o"), "2 ngasm: error: option -o needs a value");
  EXPECT_EQ(message("as scale.sass -o x --fast"), "2 ngasm: error: there is no option --fast");
  EXPECT_EQ(message("as scale.sass -o x -D V"),
            "2 ngasm: error: -D takes NAME=VALUE with an integer or a word, found `V`");
  EXPECT_EQ(message("as scale.sass -o x -D V=a -D V=b"), "2 ngasm: error: -D V is given twice");
  EXPECT_EQ(message("as scale.sass -o x --arch sm_12").substr(0, 50),
            "2 ngasm: error: there is no architecture `sm_12`; ");
  EXPECT_EQ(message("as scale.sass -o x --arch sm_52"),
            "1 scale.sass:2:7: error: this template is for sm_90a, not for sm_52");
  EXPECT_EQ(message("as none.sass -o x"), "1 ngasm: error: cannot read `none.sass`: No such file or directory");
  EXPECT_EQ(message("dis scale.sass").substr(0, 21), "1 scale.sass: error: ");
  EXPECT_EQ(message("verify"), "2 ngasm: error: one cubin is needed, found 0");
  EXPECT_EQ(message("verify --checked x"), "2 ngasm: error: there is no option --checked");
  EXPECT_EQ(message("run --checked=1 x"), "2 ngasm: error: option --checked takes no value, found `1`");
}

TEST_F(Ngasm, CoverageCountsOpcodesAndNamesThoseWithoutRows) {
  const Outcome one = ngasm("coverage --arch sm_90a");
  EXPECT_EQ(one.status, 0);
  int counts[4] = {};
  ASSERT_EQ(std::sscanf(one.out.c_str(), "sm_90a: %d of %d mnemonics, %d of %d opcode values have rows", &counts[0],
                        &counts[1], &counts[2], &counts[3]),
            4)
      << one.out;
  EXPECT_EQ(counts[1], 193);
  EXPECT_EQ(counts[3], 691);
  EXPECT_GE(counts[0], 158);
  EXPECT_GE(counts[2], 425);
  EXPECT_LE(counts[2], counts[3]);
  const Outcome missing = ngasm("coverage --arch sm_90a --missing");
  int listed = 0;
  std::istringstream in(missing.out.substr(missing.out.find('\n')));
  for (std::string word; in >> word;) listed += word.find_first_not_of("0123456789abcdef") == std::string::npos ? 1 : 0;
  EXPECT_EQ(listed, counts[3] - counts[2]);
  EXPECT_EQ(ngasm("coverage --arch sm_52").status, 2) << "there is no list for it";
  EXPECT_EQ(ngasm("coverage x").status, 2);
}

TEST_F(Ngasm, HelpAndVersion) {
  for (const std::string command :
       {"as", "dis", "verify", "run", "new", "explain", "encode", "roundtrip", "isa", "coverage"}) {
    const Outcome o = ngasm(command + " --help");
    EXPECT_EQ(o.status, 0);
    EXPECT_EQ(o.out.rfind("usage: ngasm " + command, 0), 0u) << o.out;
    EXPECT_NE(ngasm("--help").out.find("  " + command + " "), std::string::npos);
  }
  const Outcome version = ngasm("--version");
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out.rfind("ngasm ", 0), 0u);
}

TEST_F(Ngasm, NewWritesAKernelThatAssemblesAndIsRight) {
  const Outcome made = ngasm("new first");
  EXPECT_EQ(made.status, 0) << made.out;
  EXPECT_EQ(ngasm("new first").status, 1) << "nothing is overwritten";
  EXPECT_EQ(ngasm("new 1st").status, 2);
  Outcome run;
  std::FILE* p = ::popen("NGASM=" NGASM_PATH " ./first_test.sh 2>&1", "r");
  ASSERT_NE(p, nullptr);
  char chunk[4096];
  while (const std::size_t n = std::fread(chunk, 1, sizeof chunk, p)) run.out.append(chunk, n);
  EXPECT_EQ(::pclose(p), 0) << run.out;
  EXPECT_NE(run.out.find("0 findings"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("first: right"), std::string::npos) << run.out;
}

TEST_F(Ngasm, ExplainShowsFormsOperandsAndTiming) {
  const Outcome o = ngasm("explain FFMA");
  EXPECT_EQ(o.status, 0);
  EXPECT_NE(o.out.find("reads              register, reuse slot A"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("FMA 4, 4"), std::string::npos) << o.out;
  EXPECT_NE(ngasm("explain LDS --arch sm_52").out.find("need a write scoreboard"), std::string::npos);
  const Outcome wrong = ngasm("explain FMFA");
  EXPECT_EQ(wrong.status, 1);
  EXPECT_NE(wrong.out.find("did you mean FFMA?"), std::string::npos) << wrong.out;
}

TEST_F(Ngasm, TableCommandsRefuseWhatTheyDoNotKnow) {
  for (const std::string command : {"explain", "isa", "coverage"}) {
    for (const std::string arguments : {" --arch sm_42", " --arch=", " --arch", " a b", " --none", " -- -x --arch"}) {
      const Outcome o = ngasm(command + arguments);
      EXPECT_EQ(o.status, 2) << command << arguments;
      EXPECT_EQ(o.out.rfind("ngasm: error: ", 0), 0u) << o.out;
    }
  }
  const std::string many(20000, 'F');
  for (const std::string& name : {std::string("''"), std::string("'FFMA.'"), std::string("'%s%n'"), many}) {
    EXPECT_EQ(ngasm("explain " + name).status, 1) << name.substr(0, 8);
  }
  EXPECT_EQ(ngasm("explain FFMA --arch sm_42").status, 2);
  for (const std::string name : {"''", "..", "a/", "x.sass", "'x y'", "'$(x)'"}) {
    EXPECT_EQ(ngasm("new " + name).status, 2) << name;
  }
  EXPECT_EQ(ngasm("new none/x").status, 1) << "there is no such folder";
  EXPECT_EQ(files(), 1u) << "only scale.sass: nothing was written";
}

TEST_F(Ngasm, ExplainGivesCyclesWithTheirSources) {
  EXPECT_NE(ngasm("explain FFMA").out.find("register: ALU 5, 5 (measured), FMA 4, 4 (measured)"), std::string::npos);
  EXPECT_NE(ngasm("explain ISETP").out.find("predicate: operand 4, 5 (measured), guard 13, 13 (measured)"),
            std::string::npos);
  EXPECT_NE(ngasm("explain HMMA").out.find("register with A in 4: "), std::string::npos);
  EXPECT_EQ(ngasm("explain MUFU").out.find("(measured)"), std::string::npos) << "a scoreboard announces it";
}

TEST_F(Ngasm, ReportIsATableOrJson) {
  const Outcome table = ngasm("as scale.sass --report");
  EXPECT_EQ(table.status, 0) << table.out;
  EXPECT_NE(table.out.find("occupancy: "), std::string::npos) << table.out;
  const Outcome json = ngasm("as scale.sass --report --json");
  EXPECT_EQ(json.out.substr(0, 12), "[{\"kernel\":\"") << json.out;
  EXPECT_EQ(ngasm("as scale.sass -o x.cubin --json").status, 2);
}

}  // namespace

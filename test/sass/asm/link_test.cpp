// The cubin writer: what it writes is what ptxas writes for the same kernel, as far as the loader reads it.
#include "sass/asm/cubin/link.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "sass/cubin_abi.h"
#include "sass/dis/elf.h"
#include "sass/dis/nv_info.h"
#include "sass/isa/codec/codec.h"
#include "test/sass/images.h"

namespace nervanagpu::sass {
namespace {

using Section = ElfView::Section;

const Section* find(const ElfView& elf, std::string_view name) {
  for (const Section& s : elf.sections()) {
    if (s.name == name) return &s;
  }
  return nullptr;
}

std::uint32_t index_of(const ElfView& elf, const Section* s) {
  return static_cast<std::uint32_t>(s - elf.sections().data());
}

// Each record of an .nv.info section as text, symbols by name, in order.
std::vector<std::string> records(const ElfView& elf, const Section& s) {
  InfoReader in(s.data, "test");
  std::vector<std::string> out;
  InfoRecord r;
  for (;;) {
    const auto more = in.next(r);
    EXPECT_TRUE(more.ok());
    if (!more.ok() || !*more) return out;
    std::string text = std::to_string(r.attr) + ":";
    const bool symbol =
        r.is(Attr::kParamCbank) || r.is(Attr::kRegcount) || r.is(Attr::kFrameSize) || r.is(Attr::kMinStackSize);
    if (r.format != InfoFormat::kSized) text += std::to_string(r.half);
    for (std::size_t i = 0; i * 4 < r.data.size(); ++i) {
      text += ' ';
      text += i == 0 && symbol ? std::string(elf.symbols().at(r.word(0)).name) : std::to_string(r.word(i));
    }
    out.push_back(text);
  }
}

// Records that ptxas adds for debuggers and that no loader needs.
bool is_tool_record(const std::string& r) {
  return r.starts_with("52:");
}  // INDIRECT_BRANCH_TARGETS

struct Golden {
  const char* file;
  Arch arch;
  CubinAbi abi = CubinAbi::k7;
};

// .nv.shared.reserved.0 of ABI 8 is empty.
bool is_placeholder(const Section& s) {
  return s.name.starts_with(".nv.shared.reserved.") && s.size == 0;
}

class LikePtxas : public testing::TestWithParam<Golden> {
 protected:
  void SetUp() override {
    theirs_bytes_ = golden_cubin(GetParam().file);
    const auto image = read_cubin(theirs_bytes_.data(), theirs_bytes_.size());
    ASSERT_TRUE(image.ok()) << image.error().text();
    image_ = *image;
    for (KernelImage& k : image_.kernels) give_params(k);
    const auto bytes = write_cubin(image_, GetParam().abi);
    ASSERT_TRUE(bytes.ok()) << bytes.error().text();
    ours_bytes_ = *bytes;
    const auto ours = ElfView::open(ours_bytes_);
    ASSERT_TRUE(ours.ok()) << ours.error().text();
    ours_ = *ours;
    const auto theirs = ElfView::open(theirs_bytes_);
    ASSERT_TRUE(theirs.ok()) << theirs.error().text();
    theirs_ = *theirs;
  }

  // A structure by value is not a Param; any scalars that fill the block stand for it.
  static void give_params(KernelImage& k) {
    if (!k.params.empty()) return;
    for (std::uint32_t at = 0; at < k.param_bytes; ++at) {
      k.params.push_back(Param{{}, sass::ParamType::u8, static_cast<std::uint16_t>(at)});
    }
  }

  std::vector<std::uint8_t> theirs_bytes_, ours_bytes_;
  CubinImage image_;
  ElfView ours_, theirs_;
};

TEST_P(LikePtxas, HeaderIsEqualUpToOffsets) {
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(ours_bytes_[i], theirs_bytes_[i]) << "byte " << i;
  for (std::size_t i = 48; i < 58; ++i) EXPECT_EQ(ours_bytes_[i], theirs_bytes_[i]) << "byte " << i;
  EXPECT_EQ(ours_.flags(), theirs_.flags());
  EXPECT_EQ(load_le<std::uint16_t>(ours_bytes_, 58), 64);
}

TEST_P(LikePtxas, LoadedSectionsAreEqual) {
  std::size_t compared = 0;
  for (const Section& s : theirs_.sections()) {
    if ((s.flags & kSectionAlloc) == 0 || is_placeholder(s)) continue;
    const Section* mine = find(ours_, s.name);
    ASSERT_NE(mine, nullptr) << s.name;
    EXPECT_EQ(mine->type, s.type) << s.name;
    EXPECT_EQ(mine->flags, s.flags) << s.name;
    EXPECT_EQ(mine->size, s.size) << s.name;
    EXPECT_EQ(mine->data.size(), s.data.size());
    EXPECT_TRUE(std::equal(mine->data.begin(), mine->data.end(), s.data.begin(), s.data.end())) << s.name;
    const bool text = s.name.starts_with(".text.");
    const std::uint32_t low = text ? 0xffffff : 0xffffffff;
    if (text) {
      EXPECT_EQ(mine->info >> 24, s.info >> 24) << s.name;  // registers
      EXPECT_EQ(ours_.symbols().at(mine->info & low).name, theirs_.symbols().at(s.info & low).name);
      EXPECT_EQ(ours_.sections().at(mine->link).name, theirs_.sections().at(s.link).name);
    } else {
      EXPECT_EQ(ours_.sections().at(mine->info).name, theirs_.sections().at(s.info).name) << s.name;
    }
    ++compared;
  }
  std::size_t loaded = 0;
  for (const Section& s : ours_.sections()) loaded += (s.flags & kSectionAlloc) != 0 ? 1 : 0;
  EXPECT_EQ(loaded, compared);
}

TEST_P(LikePtxas, LoadedSectionsComeInTheSameKindOrder) {
  const auto kinds = [](const ElfView& elf) {
    std::vector<std::string> out;
    for (const Section& s : elf.sections()) {
      if ((s.flags & kSectionAlloc) == 0 || is_placeholder(s)) continue;
      std::string kind = s.name.starts_with(".text.") ? "text" : std::string(s.name.substr(0, s.name.find('.', 4)));
      if (out.empty() || out.back() != kind) out.push_back(kind);
    }
    return out;
  };
  EXPECT_EQ(kinds(ours_), kinds(theirs_));
}

TEST_P(LikePtxas, SymbolsOfKernelsAreEqual) {
  std::size_t kernels = 0;
  for (const ElfView::Symbol& s : theirs_.symbols()) {
    if ((s.other & kSymbolEntry) == 0) continue;
    ++kernels;
    const auto mine = std::find_if(ours_.symbols().begin(), ours_.symbols().end(),
                                   [&](const ElfView::Symbol& o) { return o.name == s.name; });
    ASSERT_NE(mine, ours_.symbols().end()) << s.name;
    EXPECT_EQ(mine->info, s.info);
    EXPECT_EQ(mine->other, s.other);
    EXPECT_EQ(mine->value, s.value);
    EXPECT_EQ(mine->size, s.size);
    EXPECT_EQ(ours_.sections().at(mine->section).name, theirs_.sections().at(s.section).name);
  }
  EXPECT_EQ(kernels, image_.kernels.size());
}

TEST_P(LikePtxas, GlobalInfoIsEqual) {
  const auto sorted = [](const ElfView& elf) {
    const auto list = records(elf, *find(elf, ".nv.info"));
    return std::set<std::string>(list.begin(), list.end());  // ptxas repeats some
  };
  EXPECT_EQ(sorted(ours_), sorted(theirs_));
}

TEST_P(LikePtxas, NotesAndCompatibilityAreEqual) {
  const auto linked = [](const ElfView& elf, std::uint32_t index) { return elf.sections().at(index).name; };
  for (const char* name : {".note.nv.tkinfo", ".note.nv.cuinfo", ".nv.compat"}) {
    const Section* theirs = find(theirs_, name);
    const Section* mine = find(ours_, name);
    ASSERT_EQ(mine == nullptr, theirs == nullptr) << name;
    ASSERT_EQ(mine == nullptr, GetParam().abi == CubinAbi::k7) << name;
    if (mine == nullptr) continue;
    EXPECT_EQ(mine->type, theirs->type) << name;
    EXPECT_EQ(mine->flags, theirs->flags) << name;
    EXPECT_EQ(linked(ours_, mine->link), linked(theirs_, theirs->link)) << name;
    EXPECT_EQ(linked(ours_, mine->info), linked(theirs_, theirs->info)) << name;
    if (std::string_view(name) == ".note.nv.tkinfo") continue;  // each tool names itself
    EXPECT_TRUE(std::ranges::equal(mine->data, theirs->data)) << name;
  }
}

// An H200's driver refuses a cubin of ABI 8 without either note.
TEST(WriteCubin, NotesOfAbi8NameTheToolAndTheChip) {
  for (const Arch arch : {Arch::sm_75, Arch::sm_80, Arch::sm_90a}) {
    RandomImages random(5);
    const auto bytes = write_cubin({arch, {random.kernel(arch, "k")}}, CubinAbi::k8);
    ASSERT_TRUE(bytes.ok()) << bytes.error().text();
    const auto elf = ElfView::open(*bytes);
    ASSERT_TRUE(elf.ok());
    const Section* tool = find(*elf, ".note.nv.tkinfo");
    ASSERT_NE(tool, nullptr);
    const auto word = [tool](std::size_t at) { return load_le<std::uint32_t>(tool->data, at); };
    constexpr std::size_t kHead = 24;  // three sizes and the owner
    ASSERT_GE(tool->data.size(), kHead + 24);
    EXPECT_EQ(word(4), tool->data.size() - kHead);
    EXPECT_EQ(word(8), 2000u);
    EXPECT_EQ(word(kHead), 2u);
    std::vector<std::string> strings;
    for (std::size_t i = 1; i <= 5; ++i) {
      const std::size_t at = kHead + 24 + word(kHead + 4 * i);
      ASSERT_LT(at, tool->data.size());
      strings.emplace_back(reinterpret_cast<const char*>(tool->data.data()) + at);
    }
    EXPECT_EQ(strings, (std::vector<std::string>{"", "ngasm", "nervanagpu", "sass/asm",
                                                 "-arch " + std::string(info(arch).name) + " "}));
    const Section* chip = find(*elf, ".note.nv.cuinfo");
    ASSERT_NE(chip, nullptr);
    EXPECT_EQ(load_le<std::uint16_t>(chip->data, kHead + 2), info(arch).number);
  }
}

TEST_P(LikePtxas, ProgramHeadersAreEqualInKind) {
  const auto segments = [](const std::vector<std::uint8_t>& bytes) {
    const auto at = load_le<std::uint64_t>(bytes, 32);
    std::vector<std::array<std::uint64_t, 3>> out;
    for (std::size_t i = 0; i < load_le<std::uint16_t>(bytes, 56); ++i) {
      const std::size_t p = at + i * kProgramHeaderBytes;
      EXPECT_LE(p + kProgramHeaderBytes, bytes.size());
      const auto offset = load_le<std::uint64_t>(bytes, p + 8);
      const auto size = load_le<std::uint64_t>(bytes, p + 32);
      EXPECT_LE(offset + size, bytes.size());
      out.push_back({load_le<std::uint32_t>(bytes, p), load_le<std::uint32_t>(bytes, p + 4),
                     load_le<std::uint64_t>(bytes, p + 40) > size});  // has NOBITS
    }
    return out;
  };
  EXPECT_EQ(segments(ours_bytes_), segments(theirs_bytes_));
}

INSTANTIATE_TEST_SUITE_P(Golden, LikePtxas,
                         testing::Values(Golden{"scale_fill.sm_52", Arch::sm_52},
                                         Golden{"scale_fill.sm_90a", Arch::sm_90a},
                                         Golden{"corners.sm_52", Arch::sm_52}, Golden{"corners.sm_90a", Arch::sm_90a},
                                         Golden{"scale_fill.sm_90a.abi8", Arch::sm_90a, CubinAbi::k8}),
                         [](const auto& p) {
                           std::string name = p.param.file;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

// Per kernel, record by record and in order; the codec must know the code for the EXIT offsets to be found.
void expect_kernel_info(const char* file, const std::vector<std::string>& kernels, CubinAbi abi = CubinAbi::k7) {
  const auto theirs_bytes = golden_cubin(file);
  const auto image = read_cubin(theirs_bytes.data(), theirs_bytes.size());
  ASSERT_TRUE(image.ok());
  CubinImage subset{image->arch, {}};
  for (const KernelImage& k : image->kernels) {
    if (std::count(kernels.begin(), kernels.end(), k.name) != 0) subset.kernels.push_back(k);
  }
  ASSERT_EQ(subset.kernels.size(), kernels.size());
  const auto bytes = write_cubin(subset, abi);
  ASSERT_TRUE(bytes.ok()) << bytes.error().text();
  const auto ours = ElfView::open(*bytes);
  const auto theirs = ElfView::open(theirs_bytes);
  ASSERT_TRUE(ours.ok() && theirs.ok());
  for (const std::string& name : kernels) {
    auto expected = records(*theirs, *find(*theirs, ".nv.info." + name));
    std::erase_if(expected, is_tool_record);
    EXPECT_EQ(records(*ours, *find(*ours, ".nv.info." + name)), expected) << name;
    EXPECT_EQ(find(*ours, ".nv.info." + name)->info, index_of(*ours, find(*ours, ".text." + name)));
  }
}

TEST(KernelInfo, IsWhatPtxasWritesForSm90a) {
  expect_kernel_info("scale_fill.sm_90a", {"fill", "scale"});
  expect_kernel_info("corners.sm_90a", {"exact", "any_barrier", "stack", "nothing"});
}

TEST(KernelInfo, IsWhatPtxasWritesForAbi8) {
  expect_kernel_info("scale_fill.sm_90a.abi8", {"fill", "scale"}, CubinAbi::k8);
  expect_kernel_info("corners.sm_90a.abi8", {"exact", "any_barrier", "stack", "nothing"}, CubinAbi::k8);
}

// ptxas names a NOP before the EXCH that makes an mbarrier, the rest by their addresses.
TEST(KernelInfo, NamesInstructionsOnMbarriersAsPtxasDoes) {
  const auto theirs_bytes = golden_cubin("mbarriers.sm_90a");
  const auto image = read_cubin(theirs_bytes.data(), theirs_bytes.size());
  ASSERT_TRUE(image.ok());
  const auto bytes = write_cubin(*image);
  ASSERT_TRUE(bytes.ok()) << bytes.error().text();
  const auto lists = [](const std::vector<std::uint8_t>& cubin) {
    std::vector<std::string> out;
    const auto elf = ElfView::open(cubin);
    if (!elf.ok()) return out;
    for (const std::string& r : records(*elf, *find(*elf, ".nv.info.mbarriers"))) {
      if (r.starts_with("56:") || r.starts_with("57:")) out.push_back(r);
    }
    return out;
  };
  const auto words = [](const std::string& record) {
    std::vector<std::uint32_t> out;
    std::istringstream in(record.substr(record.find(' ')));
    for (std::uint32_t v = 0; in >> v;) out.push_back(v);
    return out;
  };
  const auto theirs = lists(theirs_bytes);
  const auto ours = lists(*bytes);
  ASSERT_EQ(theirs.size(), 2U);
  ASSERT_EQ(ours.size(), 2U);
  EXPECT_EQ(ours[1], theirs[1]);
  std::vector<std::uint32_t> want = words(theirs[0]);
  const std::vector<std::uint32_t> got = words(ours[0]);
  ASSERT_EQ(got.size(), want.size());
  int made = 0;
  for (std::size_t i = 0; i < got.size(); i += 4) {
    if ((got[i + 3] & 0xff) == 0) {
      ++made;
      const auto exchange = decode(Arch::sm_90a, image->kernels[0].code[got[i] / 16], got[i]);
      ASSERT_TRUE(exchange.ok());
      EXPECT_EQ(exchange->op, Op::SYNCS);
      EXPECT_GT(got[i], want[i]);
      // The address may have been in a register that R2UR has read.
      want[i] = got[i], want[i + 1] = got[i + 1], want[i + 3] = got[i + 3];
    }
    for (std::size_t w = 0; w < 4; ++w) EXPECT_EQ(got[i + w], want[i + w]) << "use " << i / 4 << ", word " << w;
  }
  EXPECT_EQ(made, 2);
}

TEST(WriteCubin, Abi8BeginsWithSm75) {
  for (const ArchInfo& arch : all_archs()) {
    RandomImages random(arch.number);
    const CubinImage image = random.cubin(arch.arch);
    const auto bytes = write_cubin(image, CubinAbi::k8);
    ASSERT_EQ(bytes.ok(), arch.arch >= Arch::sm_75) << arch.name;
    if (!bytes.ok()) {
      EXPECT_EQ(bytes.error().message,
                "cubin ABI 8 is CUDA 13's, which begins with sm_75; for " + std::string(arch.name) + " there is ABI 7");
      continue;
    }
    const auto back = read_cubin(bytes->data(), bytes->size());
    ASSERT_TRUE(back.ok()) << back.error().text();
    EXPECT_EQ(back->arch, image.arch);
    ASSERT_EQ(back->kernels.size(), image.kernels.size());
    for (std::size_t k = 0; k < image.kernels.size(); ++k) expect_same(image.kernels[k], back->kernels[k]);
  }
}

TEST(KernelInfo, IsWhatPtxasWritesForSm52) {
  expect_kernel_info("scale_fill.sm_52", {"fill", "scale"});
  expect_kernel_info("corners.sm_52", {"exact", "any_barrier", "stack", "nothing"});
}

TEST(WriteCubin, SharedMemoryOfSm90IncludesTheReservedKilobyte) {
  RandomImages random(3);
  for (const Arch arch : {Arch::sm_52, Arch::sm_80, Arch::sm_90a}) {
    CubinImage image{arch, {random.kernel(arch, "k")}};
    image.kernels[0].shared = 512;
    const auto bytes = write_cubin(image);
    ASSERT_TRUE(bytes.ok()) << bytes.error().text();
    const auto elf = ElfView::open(*bytes);
    ASSERT_TRUE(elf.ok());
    EXPECT_EQ(find(*elf, ".nv.shared.k")->size, arch == Arch::sm_90a ? 512u + 1024u : 512u);
  }
}

TEST(WriteCubin, OurSectionsAreLastAndNotLoaded) {
  RandomImages random(4);
  CubinImage image{Arch::sm_90a, {random.kernel(Arch::sm_90a, "a"), random.kernel(Arch::sm_90a, "b")}};
  for (KernelImage& k : image.kernels) {
    k.lines = LineTable(std::vector<Span>(k.code.size(), Span{"x.sass", 1, 1}));
    k.manifest = {};
    k.manifest.name = k.name;
    k.manifest.params = k.params;
  }
  const auto bytes = write_cubin(image);
  ASSERT_TRUE(bytes.ok()) << bytes.error().text();
  const auto elf = ElfView::open(*bytes);
  ASSERT_TRUE(elf.ok());
  std::vector<std::string> last;
  for (const Section& s : elf->sections()) {
    if (!s.name.starts_with(".ngasm.")) {
      EXPECT_TRUE(last.empty()) << s.name << " follows ours";
      continue;
    }
    EXPECT_EQ(s.type, kSectionProgbits);
    EXPECT_EQ(s.flags, 0u);
    last.emplace_back(s.name);
  }
  EXPECT_EQ(last,
            (std::vector<std::string>{".ngasm.manifest.a", ".ngasm.manifest.b", ".ngasm.lines.a", ".ngasm.lines.b"}));
}

TEST(WriteCubin, SameImageSameBytes) {
  for (const ArchInfo& a : all_archs()) {
    RandomImages first(7);
    RandomImages second(7);
    const auto x = write_cubin(first.cubin(a.arch));
    const auto y = write_cubin(second.cubin(a.arch));
    ASSERT_TRUE(x.ok() && y.ok());
    EXPECT_EQ(*x, *y);
  }
}

TEST(WriteCubin, RefusesWhatNoCubinCanHold) {
  const auto message = [](auto&& change) {
    KernelImage k;
    k.name = "k";
    k.code.resize(3);
    k.registers = 32;
    CubinImage image{Arch::sm_52, {k}};
    change(image);
    const auto bytes = write_cubin(image);
    return bytes.ok() ? std::string("written") : bytes.error().message;
  };
  using Image = CubinImage;
  EXPECT_EQ(message([](Image&) {}), "written");
  EXPECT_EQ(message([](Image& i) { i.kernels.clear(); }), "a cubin needs at least one kernel");
  EXPECT_EQ(message([](Image& i) { i.kernels.push_back(i.kernels[0]); }), "two kernels are named 'k'");
  EXPECT_EQ(message([](Image& i) { i.kernels[0].name = ""; }), "kernel '': the name is empty");
  EXPECT_EQ(message([](Image& i) { i.kernels[0].name = "a b"; }),
            "kernel 'a b': the name may have letters, digits, '_', '$', '.'");
  EXPECT_EQ(message([](Image& i) { i.kernels[0].code.clear(); }), "kernel 'k': it has no code");
  EXPECT_EQ(message([](Image& i) { i.kernels[0].code.resize(4); }),
            "kernel 'k': code of 4 instructions does not fill bundles of three");
  EXPECT_EQ(message([](Image& i) { i.kernels[0].code[2].hi = 1; }),
            "kernel 'k': instruction 2 has bits above its 64 that are not control bits");
  EXPECT_EQ(message([](Image& i) { i.kernels[0].registers = 0; }),
            "kernel 'k': the register count is 0, need 1 to 255");
  EXPECT_EQ(message([](Image& i) { i.kernels[0].registers = 256; }),
            "kernel 'k': the register count is 256, at most 255 can be");
  EXPECT_EQ(message([](Image& i) { i.kernels[0].shared = 49153; }),
            "kernel 'k': shared memory is 49153, at most 49152 can be");
  EXPECT_EQ(message([](Image& i) { i.kernels[0].barriers = 17; }),
            "kernel 'k': the barrier count is 17, at most 16 can be");
  EXPECT_EQ(message([](Image& i) { i.kernels[0].max_threads = 1025; }),
            "kernel 'k': the CTA size is 1025, at most 1024 can be");
  EXPECT_EQ(message([](Image& i) { i.kernels[0].reqntid[1] = 8; }), "kernel 'k': reqntid has a zero dimension");
  EXPECT_EQ(message([](Image& i) { std::fill_n(i.kernels[0].reqntid, 3, 11u); }),
            "kernel 'k': the CTA size is 1331, at most 1024 can be");
  EXPECT_EQ(message([](Image& i) { std::fill_n(i.kernels[0].reqntid, 3, 65536u); }),
            "kernel 'k': reqntid is 65536, at most 1024 can be");
  EXPECT_EQ(message([](Image& i) {
              i.kernels[0].registers = 65;
              i.kernels[0].max_threads = 1024;
            }),
            "kernel 'k': 65 registers for each of 1024 threads; a multiprocessor has 64 for each");
  EXPECT_EQ(message([](Image& i) {  // three warps of a scheduler: 54,144 registers, and yet
              i.kernels[0].registers = 188;
              i.kernels[0].max_threads = 288;
            }),
            "kernel 'k': 188 registers for each of 288 threads; a multiprocessor has 168 for each");
  EXPECT_EQ(message([](Image& i) { i.kernels[0].param_bytes = 8; }),
            "kernel 'k': the parameter block has 8 bytes but no parameters");
  EXPECT_EQ(message([](Image& i) {
              i.kernels[0].params = {{"p", ParamType::u32, 2}};
            }),
            "kernel 'k': parameter 'p' at offset 2 is unaligned or past the block of 0 bytes");
  EXPECT_EQ(message([](Image& i) { i.kernels[0].constant0.resize(8); }),
            "kernel 'k': constant0 has 8 bytes, need 0 or 320 to 65536");
  EXPECT_EQ(message([](Image& i) { i.kernels[0].lines.resize(2); }), "kernel 'k': 2 source lines for 3 instructions");
  EXPECT_EQ(message([](Image& i) { i.kernels[0].manifest.name = "other"; }),
            "kernel 'k': the manifest is of kernel 'other'");
  EXPECT_EQ(message([](Image& i) { i.kernels[0].manifest.name = "k"; }), "kernel 'k': the manifest is for sm_90a");
}

TEST(WriteCubin, LimitsRegistersByTheLaunchBounds) {
  const auto maxreg = [](Arch arch, std::uint32_t threads) {
    KernelImage k;
    k.name = "k";
    k.code.resize(6);
    k.registers = 8;
    k.max_threads = threads;
    const auto bytes = write_cubin({arch, {k}});
    const auto elf = ElfView::open(*bytes);
    for (const std::string& r : records(*elf, *find(*elf, ".nv.info.k"))) {
      if (r.starts_with("27:")) return r.substr(3);
    }
    return std::string("none");
  };
  EXPECT_EQ(maxreg(Arch::sm_90a, 0), "255");
  EXPECT_EQ(maxreg(Arch::sm_90a, 128), "255");
  EXPECT_EQ(maxreg(Arch::sm_90a, 384), "168");
  EXPECT_EQ(maxreg(Arch::sm_52, 1024), "64");
  EXPECT_EQ(maxreg(Arch::sm_53, 1024), "32");
}

}  // namespace
}  // namespace nervanagpu::sass

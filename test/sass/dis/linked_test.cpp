// Cubins that nvlink has made of two files (test/data/cudac/linked.cu): where functions come to lie, and what has their
// addresses.
#include <gtest/gtest.h>

#include <algorithm>

#include "sass/cubin_abi.h"
#include "sass/dis/elf.h"
#include "sass/isa/codec/codec.h"
#include "test/sass/images.h"

namespace nervanagpu::sass {
namespace {

class Linked : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { bytes_ = golden_cubin(std::string("../cudac/") + GetParam()); }
  void read() {
    auto image = read_cubin(bytes_.data(), bytes_.size());
    ASSERT_TRUE(image.ok()) << image.error().text();
    image_ = std::move(*image);
  }
  [[nodiscard]] const KernelImage& kernel(const std::string& name) const {
    const auto k = std::ranges::find(image_.kernels, name, &KernelImage::name);
    EXPECT_NE(k, image_.kernels.end()) << name;
    return *k;
  }
  // The first record of the relocations of hash, in the file.
  std::size_t first_record() {
    const auto elf = ElfView::open(bytes_);
    EXPECT_TRUE(elf.ok());
    for (const ElfView::Section& s : elf->sections()) {
      if (s.name == ".rela.text.hash") return static_cast<std::size_t>(s.data.data() - bytes_.data());
    }
    ADD_FAILURE() << "no relocations of hash";
    return 0;
  }

  std::vector<std::uint8_t> bytes_;
  CubinImage image_;
};

TEST_P(Linked, FunctionsLieBehindEveryKernelThatCalls) {
  read();
  const KernelImage& hash = kernel("hash");
  const KernelImage& sums = kernel("sums");
  EXPECT_LT(kernel("read_counter").code.size(), 64u);  // it calls nothing
  ASSERT_EQ(hash.code.size(), sums.code.size());
  const std::vector<Relocation>& choice = image_.data.in_variables;
  ASSERT_EQ(choice.size(), 3u);  // {mix, swap, mix}
  for (const Relocation& r : choice) EXPECT_EQ(r.to, Relocation::To::kCode);
  EXPECT_EQ(choice[0].value, choice[2].value);
  EXPECT_NE(choice[0].value, choice[1].value);
  const std::size_t first = std::min(choice[0].value, choice[1].value) / 16;
  ASSERT_LT(first, hash.code.size());
  for (std::size_t i = first; i < hash.code.size(); ++i) EXPECT_EQ(hash.code[i], sums.code[i]) << i;
}

TEST_P(Linked, CallsAndReturnAddressesAreTheInstructions) {
  read();
  const std::uint64_t mix = image_.data.in_variables[0].value;
  const KernelImage& hash = kernel("hash");
  unsigned direct = 0;
  for (std::size_t i = 0; i < hash.code.size(); ++i) {
    const auto inst = decode(Arch::sm_90a, hash.code[i], i * 16);
    ASSERT_TRUE(inst.ok()) << i;
    if (inst->op != Op::CALL || inst->operands().back().kind != OperandKind::kImm) continue;
    const auto address = static_cast<std::uint64_t>(inst->operands().back().imm);
    ASSERT_LT(address / 16, hash.code.size());
    direct += address == mix ? 1 : 0;
    // Of the two instructions that name the place to return to, one has its low half: the next instruction.
    const bool back = std::ranges::any_of(hash.relocations, [&](const CodeRelocation& r) {
      return r.to == Relocation::To::kCode && r.field == CodeRelocation::Field::kLow && r.value == (i + 1) * 16 &&
             r.index < i && hash.code[r.index].lo >> 32 == r.value;
    });
    EXPECT_TRUE(back) << i;
  }
  EXPECT_GE(direct, 2u);  // of hash, and of fold after it
}

TEST_P(Linked, ATypeThatIsNotKnownIsKept) {
  bytes_[first_record() + 8] = 99;
  read();
  const auto& all = kernel("hash").relocations;
  EXPECT_EQ(std::ranges::count(all, CodeRelocation::Field::kOther, &CodeRelocation::field), 1);
  EXPECT_EQ(std::ranges::find(all, CodeRelocation::Field::kOther, &CodeRelocation::field)->value, 99u);
}

TEST_P(Linked, APlacePastTheCodeIsRefused) {
  bytes_[first_record() + 2] = 1;  // 64 KB on
  const auto image = read_cubin(bytes_.data(), bytes_.size());
  ASSERT_FALSE(image.ok());
  EXPECT_NE(image.error().message.find(" of section .text.hash: it lies past the code"), std::string::npos)
      << image.error().message;
}

INSTANTIATE_TEST_SUITE_P(Nvlink, Linked, testing::Values("linked", "linked.abi8"),
                         [](const auto& p) { return std::string(p.param) == "linked" ? "abi7" : "abi8"; });

}  // namespace
}  // namespace nervanagpu::sass

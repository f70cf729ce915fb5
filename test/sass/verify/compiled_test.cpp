// What ptxas made must pass verify as it is, and again after schedule has replaced all of its control codes.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "test/sass/verify/hand_kernel.h"

namespace nervanagpu::sass {
namespace {

using test::sentences;

std::vector<std::filesystem::path> compiled() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(NG_SOURCE_DIR "/test/data")) {
    if (entry.path().extension() == ".cubin") found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

CubinImage read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<std::uint8_t> bytes((std::istreambuf_iterator<char>(file)), {});
  Result<CubinImage> image = read_cubin(bytes.data(), bytes.size());
  EXPECT_TRUE(image.ok()) << path << (image.ok() ? "" : image.error().text());
  return image.ok() ? *image : CubinImage{};
}

class Compiled : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Compiled, HasNoHazards) {
  const CubinImage image = read(GetParam());
  EXPECT_FALSE(image.kernels.empty());
  for (const KernelImage& k : image.kernels) {
    const std::vector<Hazard> found = verify(image.arch, k, &image.data);
    EXPECT_TRUE(found.empty()) << k.name << "\n" << sentences(found);
  }
}

// Functions that are called through registers, or by an address that the loader puts in: schedule does not know who calls
// them.
bool calls_by_address(const Inst& inst) {
  return inst.op == Op::JMX || (inst.op == Op::CALL && std::ranges::any_of(inst.operands(), [](const Operand& o) {
                                  return o.kind == OperandKind::kGpr || o.kind == OperandKind::kImm;
                                }));
}

TEST_P(Compiled, HasNoneWithOurControlCodesEither) {
  const CubinImage image = read(GetParam());
  const Encoding encoding = info(image.arch).encoding;
  for (KernelImage k : image.kernels) {
    Program p;
    p.manifest.arch = image.arch;
    bool computed = false;
    for (std::uint32_t i = 0; i < k.code.size(); ++i) {
      Result<Inst> inst = decode(image.arch, k.code[i], address_of(encoding, i));
      ASSERT_TRUE(inst.ok()) << k.name << ": " << inst.error().text();
      computed = computed || calls_by_address(*inst);
      Line line;
      line.inst = *inst;
      line.at = {k.name, i + 1, 1};
      for (Operand& o : line.inst.operands()) o.reuse = false;
      // Copy groups say by their scoreboard which DEPBAR counts them; the idle code after the last branch is as it is.
      line.pinned.write_sb = inst->op == Op::LDGDEPBAR;
      line.pinned.stall = line.pinned.yield = encoding == Encoding::k128 && inst->control.stall == 0;
      p.lines.push_back(line);
    }
    if (computed) continue;
    const Status s = schedule(p);
    ASSERT_TRUE(s.ok()) << s.error().text();
    for (std::uint32_t i = 0; i < k.code.size(); ++i) k.code[i] = put_control(k.code[i], p.lines[i].inst.control);
    const std::vector<Hazard> found = verify(image.arch, k, &image.data);
    EXPECT_TRUE(found.empty()) << k.name << "\n" << sentences(found);
  }
}

INSTANTIATE_TEST_SUITE_P(Cubins, Compiled, testing::ValuesIn(compiled()), [](const auto& info) {
  std::string name = (info.param.parent_path().filename() / info.param.stem()).string();
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace nervanagpu::sass

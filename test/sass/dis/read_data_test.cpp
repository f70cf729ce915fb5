// Variables, constant banks and relocations of cubins that ptxas made of test/data/cudac/variables.cu.
#include <gtest/gtest.h>

#include <algorithm>

#include "sass/bytes.h"
#include "test/sass/images.h"

namespace nervanagpu::sass {
namespace {

class ReadData : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const Bytes bytes = golden_cubin(std::string("../cudac/") + GetParam());
    auto image = read_cubin(bytes.data(), bytes.size());
    ASSERT_TRUE(image.ok()) << image.error().text();
    data_ = std::move(image->data);
  }
  [[nodiscard]] const Variable& variable(const std::string& name) const {
    const auto v = std::ranges::find(data_.variables, name, &Variable::name);
    EXPECT_NE(v, data_.variables.end()) << name;
    return v == data_.variables.end() ? data_.variables.front() : *v;
  }
  // The value that the word at `offset` of the variables is to hold: an offset among them.
  [[nodiscard]] std::uint64_t pointer_at(std::uint64_t offset) const {
    const auto r = std::ranges::find(data_.in_variables, offset, &Relocation::offset);
    EXPECT_NE(r, data_.in_variables.end()) << offset;
    return r == data_.in_variables.end() ? ~std::uint64_t{0} : r->value;
  }
  ModuleData data_;
};

TEST_P(ReadData, VariablesHaveTheirValues) {
  const Variable& counter = variable("counter");
  EXPECT_EQ(counter.bytes, 4u);
  ASSERT_LE(counter.offset + 4, data_.initial.size());
  EXPECT_EQ(load_le<std::uint32_t>(data_.initial, counter.offset), 5u);
  const Variable& zeros = variable("zeros");
  EXPECT_EQ(zeros.bytes, 400u);
  EXPECT_GE(zeros.offset, data_.initial.size());
  EXPECT_EQ(zeros.offset % 1024, 0u);
  EXPECT_EQ(data_.bytes, zeros.offset + 400);
  const Variable& table = variable("table");
  EXPECT_EQ(table.place, Variable::Place::kConstant);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(load_le<std::uint32_t>(data_.constant3, table.offset + 4 * i), i + 1);
}

TEST_P(ReadData, PointersPointToTheirVariables) {
  EXPECT_EQ(pointer_at(variable("where").offset), variable("counter").offset);
  const Variable& names = variable("names");
  for (const auto& [i, text] : {std::pair{0u, "alpha"}, std::pair{1u, "beta"}}) {
    const std::uint64_t at = pointer_at(names.offset + 8 * i);
    ASSERT_LE(at + 6, data_.initial.size());
    EXPECT_STREQ(reinterpret_cast<const char*>(data_.initial.data() + at), text);
  }
}

TEST_P(ReadData, FunctionsOfTheDriverAreNamed) {
  std::vector<std::string> names = data_.externals;
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"__assertfail", "malloc", "vprintf"}));
  const auto calls = std::ranges::count(data_.in_constant4, Relocation::To::kFunction, &Relocation::to);
  EXPECT_EQ(calls, 3);
  for (const Relocation& r : data_.in_constant4) EXPECT_EQ(r.bytes, 8);
}

INSTANTIATE_TEST_SUITE_P(Abi, ReadData, testing::Values("variables", "variables.abi8"),
                         [](const auto& info) { return std::string(info.index == 0 ? "abi7" : "abi8"); });

}  // namespace
}  // namespace nervanagpu::sass

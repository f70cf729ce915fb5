// JSON, and files of arrays.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "layers/config_json.h"
#include "layers/safetensors.h"
#include "nervanagpu/error.hpp"

namespace nervanagpu::layers {
namespace {

TEST(Json, RoundTrip) {
  const std::string text =
      R"({"a":[1,-2,3.5,1e-07,true,false,null],"b":{"c":"\"\\ ä"},"d":[],"e":{},"f":9223372036854775807,"g":2.0})";
  EXPECT_EQ(to_text(parse_json(text)), text);
  const Json escaped = parse_json("  [ \"\\u00e4\\n\\ud83d\\ude00\\/\" , 1E2 ] ");
  ASSERT_EQ(escaped.items.size(), 2U);
  EXPECT_EQ(escaped.items[0].text, "\xc3\xa4\n\xf0\x9f\x98\x80/");
  EXPECT_EQ(escaped.items[1].real, 100.0);
  EXPECT_EQ(to_text(Json(std::string("\x01"))), "\"\\u0001\"");
}

TEST(Json, RefusesWhatIsNone) {
  for (const char* text : {"", "{", "[1,", "[1 2]", "{\"a\"}", "{\"a\":}", "{a:1}", "\"", "\"\\x\"", "\"\\u12\"", "tru",
                           "[1],", "-", "nul", "{\"a\":1,}"}) {
    EXPECT_THROW(parse_json(text), Error) << text;
  }
  EXPECT_THROW(parse_json(std::string(100000, '[')), Error);
  EXPECT_NO_THROW(parse_json(std::string(60, '[') + std::string(60, ']')));
}

TEST(Json, NumbersAreThoseOfJson) {
  for (const char* text : {"nan", "NaN",  "-nan", "inf", "-inf", "infinity", "nan(1)", "01",  "-01",  "00",
                           "1.",  "1.e5", ".5",   "1e",  "1e+",  "+1",       "1e999",  "--1", "0x10", "- 1"}) {
    EXPECT_THROW(parse_json(text), Error) << text;
  }
  EXPECT_EQ(parse_json("-0").whole, 0);
  EXPECT_EQ(parse_json("0.5").real, 0.5);
  EXPECT_EQ(parse_json("-10e-1").real, -1.0);
  EXPECT_EQ(parse_json("1E+2").real, 100.0);
  EXPECT_EQ(parse_json("-9223372036854775808").whole, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parse_json("9223372036854775808").kind, Json::Kind::real);
}

TEST(Json, Configurations) {
  const Config inner = {{"layer", "ConvLayer"}, {"K", 3}, {"window", Ints{1, 2}}, {"relu", true}, {"x", 0.25}};
  const Config c = {{"layer", "Inception"}, {"partitions", Branches{{inner, inner}, {inner}}}, {"none", Ints{}}};
  const Config again = config_of(parse_json(to_text(json_of(c))));
  EXPECT_EQ(to_text(json_of(again)), to_text(json_of(c)));
  EXPECT_EQ(again.text("layer", ""), "Inception");
  const auto& branches = std::get<Branches>(again.fields().at("partitions"));
  ASSERT_EQ(branches.size(), 2U);
  EXPECT_EQ(branches[0][1].integers("window", {}), (Ints{1, 2}));
  EXPECT_EQ(branches[0][1].number("x", 0.0), 0.25);
  EXPECT_TRUE(again.integers("none", {1}).empty());
  EXPECT_THROW(config_of(parse_json("[1]")), Error);
  EXPECT_THROW(config_of(parse_json("{\"a\":{}}")), Error);
  EXPECT_THROW(config_of(parse_json("{\"a\":[\"b\"]}")), Error);
}

class File : public ::testing::Test {
 protected:
  ~File() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path() const { return (folder_ / "x.safetensors").string(); }
  std::filesystem::path folder_ = [] {
    auto p = std::filesystem::temp_directory_path() /
             ("ng_file_test_" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) + "_" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(p);
    return p;
  }();
};

TEST_F(File, RoundTrip) {
  SavedFile file;
  file.metadata = {{"format", "x"}, {"text", "{\"a\": \"\\\"\"}"}};
  file.arrays.push_back({"one", {2, 3}, Dtype::float32, std::vector<std::byte>(24, std::byte{7})});
  file.arrays.push_back({"two", {}, Dtype::float16, {std::byte{1}, std::byte{2}}});
  file.arrays.push_back({"none", {0, 4}, Dtype::float32, {}});
  write_safetensors(path(), file);
  const SavedFile again = read_safetensors(path());
  EXPECT_EQ(again.metadata, file.metadata);
  ASSERT_EQ(again.arrays.size(), 3U);
  for (const SavedArray& a : file.arrays) {
    const SavedArray* b = again.find(a.name);
    ASSERT_NE(b, nullptr);
    EXPECT_EQ(b->shape, a.shape);
    EXPECT_EQ(b->dtype, a.dtype);
    EXPECT_EQ(b->bytes, a.bytes);
  }
  EXPECT_EQ(again.find("three"), nullptr);
}

TEST_F(File, WhatWasThereStaysIfWritingFails) {
  SavedFile file;
  file.arrays.push_back({"one", {1}, Dtype::float32, std::vector<std::byte>(4, std::byte{7})});
  write_safetensors(path(), file);
  std::filesystem::create_directory(path() + ".partial");  // in the way
  EXPECT_THROW(write_safetensors(path(), {}), Error);
  EXPECT_EQ(read_safetensors(path()).arrays.size(), 1U);
}

}  // namespace
}  // namespace nervanagpu::layers

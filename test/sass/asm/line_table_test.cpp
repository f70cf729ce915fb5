// The line table of a cubin: what is written is read, and damage is refused.
#include "sass/asm/cubin/line_table.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "test/sass/images.h"

namespace nervanagpu::sass {
namespace {

using namespace std::string_literals;

TEST(LineTable, RunsSurvive) {
  const std::vector<Span> places = {{"a.sass", 3, 1}, {"a.sass", 3, 1}, {"b \"q\".sass", 700, 5}, {"a.sass", 4, 9}, {}};
  const LineTable lines{places};
  ASSERT_EQ(lines.size(), places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(lines[i].file, places[i].file);
    EXPECT_EQ(lines[i].line, places[i].line);
    EXPECT_EQ(lines.line(i), places[i].line);
    EXPECT_EQ(lines[i].col, places[i].col);
  }
  const std::string bytes = line_table_bytes(lines);
  EXPECT_EQ(bytes,
            "nervanagpu-lines 2\nfile \"a.sass\"\nfile \"b \\\"q\\\".sass\"\nfile \"\"\nruns 4\n"
            "\x00\x00\x06\x01"
            "\x02\x02\xf2\x0a\x05"
            "\x01\x01\xef\x0a\x09"
            "\x01\x04\x07\x00"s);
  const auto back = read_line_table(bytes, lines.size());
  ASSERT_TRUE(back.ok()) << back.error().text();
  expect_same(lines, *back);
}

TEST(LineTable, AnyNumbersSurvive) {
  std::mt19937 random(1);
  constexpr std::array<std::uint32_t, 8> kEdges = {0, 1, 127, 128, 1U << 31, (1U << 31) - 1, ~0U, ~0U - 1};
  std::vector<Span> places;
  for (int i = 0; i < 2000; ++i) {
    const auto number = [&] { return random() % 2 == 0 ? kEdges[random() % kEdges.size()] : std::uint32_t(random()); };
    places.insert(places.end(), 1 + random() % 200, Span{std::to_string(random() % 300), number(), number()});
  }
  const LineTable lines(places);
  const auto back = read_line_table(line_table_bytes(lines), lines.size());
  ASSERT_TRUE(back.ok()) << back.error().text();
  expect_same(lines, *back);
  for (std::size_t i = 0; i < places.size(); i += 7) ASSERT_EQ((*back)[i].line, places[i].line);
}

TEST(LineTable, GrowsAndShrinks) {
  LineTable lines;
  EXPECT_TRUE(lines.empty());
  lines.push_back({"a", 1, 1});
  lines.push_back({"a", 1, 1});
  lines.resize(4);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines.line(1), 1U);
  EXPECT_EQ(lines[3].file, "");
  EXPECT_EQ(lines.line(3), 0U);
  lines.resize(1);
  lines.push_back({"a", 2, 1});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines.line(0), 1U);
  EXPECT_EQ(lines.line(1), 2U);
}

TEST(LineTable, KeepsTheEndOfALongFileName) {
  const std::string name = std::string(300, 'd') + "/f.sass";
  const auto back = read_line_table(line_table_bytes(LineTable(std::vector<Span>{{name, 1, 1}})), 1);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ((*back)[0].file, name.substr(name.size() - kMaxFileName));
}

TEST(LineTable, RefusesNonsense) {
  const std::string head = "nervanagpu-lines 2\n";
  const std::string file = head + "file \"a\"\n";
  const std::string one = file + "runs 1\n";
  const std::string two = file + "runs 2\n";
  const std::string good = "\0\0\2\1"s;
  const std::pair<std::string, const char*> cases[] = {
      {"", "line table, line 0: does not begin with nervanagpu-lines"},
      {"nervanagpu-lines 1\n", "line table, line 1: version 1, need 2"},
      {head, "line table, line 1: record 'file' or 'runs' needed"},
      {file, "line table, line 2: record 'file' or 'runs' needed"},
      {file + "at 0 0 1 1\n", "line table, line 3: record 'file' or 'runs' needed"},
      {head + "runs 0\n", "line table: no runs for 2 instructions"},
      {head + "runs 1 2\n" + good, "line table, line 2: unexpected text after the last field"},
      {head + "runs 1\n" + good, "line table: run 0 is of file 0, which is not in the table"},
      {one + "\0\1\2\1"s, "line table: run 0 is of file 4294967295, which is not in the table"},
      {one + "\1\0\2\1"s, "line table: run 0 is out of order or past the code"},
      {two + good + "\0\0\2\1"s, "line table: run 1 is out of order or past the code"},
      {two + good + "\2\0\2\1"s, "line table: run 1 is out of order or past the code"},
      {two + good + "\xff\xff\xff\xff\x0f\0\2\1"s, "line table: run 1 is out of order or past the code"},
      {two + good, "line table: 2 runs do not fit into 4 bytes"},
      {file + "runs 4294967295\n" + good, "line table: 4294967295 runs do not fit into 4 bytes"},
      {one + "\0\0\2\x81"s, "line table: run 0 is not four numbers"},
      {one + "\0\0\2\xff\xff\xff\xff\x1f"s, "line table: run 0 is not four numbers"},
      {one + "\0\0\2\xff\xff\xff\xff\xff\1"s, "line table: run 0 is not four numbers"},
      {one + good + "x", "line table: 1 bytes after the last run"},
      {head + "file \"" + std::string(256, 'x') + "\"\n", "line table, line 2: file name longer than 255 bytes"},
  };
  for (const auto& [bad, message] : cases) {
    const auto lines = read_line_table(bad, 2);
    ASSERT_FALSE(lines.ok()) << message;
    EXPECT_EQ(lines.error().message, message);
  }
}

}  // namespace
}  // namespace nervanagpu::sass

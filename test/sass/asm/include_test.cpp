// What .include may read, and what reading a template refuses.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sass/asm/pipeline.h"
#include "sass/asm/template/include.h"
#include "sass/asm/template/template.h"
#include "sass/file.h"

namespace nervanagpu::sass {
namespace {

namespace fs = std::filesystem;

class Include : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::temp_directory_path() / ("ng_include_" + std::to_string(::getpid()));
    fs::create_directories(dir_ / "work/lib");
    fs::create_directories(dir_ / "workshop");
    write("secret", "the secret\n");
    write("workshop/secret", "the secret\n");
    write("work/a.sass", "MOV R0, RZ\n");
    write("work/lib/b.sass", "MOV R1, RZ\n");
  }
  void TearDown() override { fs::remove_all(dir_); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(dir_ / name) << text; }
  [[nodiscard]] std::string at(const std::string& name) const { return (dir_ / name).string(); }
  [[nodiscard]] std::string message(const std::string& name, std::vector<std::string> folders) const {
    const Result<std::string> r = include_from(std::move(folders))(name);
    return r.ok() ? *r : r.error().text();
  }
  static std::string refused(const std::string& name) {
    return "error: `" + name + "` is not below a folder that may be included from";
  }
  void expect_refused(const std::string& name, const std::vector<std::string>& folders) const {
    const std::string said = message(name, folders);
    EXPECT_EQ(said.substr(0, said.find('\n')), refused(name));
    EXPECT_EQ(said.find("the secret"), std::string::npos) << said;
  }

  fs::path dir_;
};

TEST_F(Include, BelowTheFolders) {
  const std::vector<std::string> folders = {at("work")};
  EXPECT_EQ(message("a.sass", folders), "MOV R0, RZ\n");
  EXPECT_EQ(message("./lib/b.sass", folders), "MOV R1, RZ\n");
  EXPECT_EQ(message("lib/../a.sass", folders), "MOV R0, RZ\n");
  EXPECT_EQ(message(at("work/a.sass"), folders), "MOV R0, RZ\n");
  EXPECT_EQ(message("a.sass", {at("work/")}), "MOV R0, RZ\n");
  EXPECT_EQ(message("../a.sass", {at("work/lib"), at("work")}), "MOV R0, RZ\n") << "outside of one, below the other";
  EXPECT_EQ(message("b.sass", {at("work"), at("work/lib")}), "MOV R1, RZ\n");
  const std::string none = message("none.sass", folders);
  EXPECT_EQ(none.substr(0, none.find('\n')), "error: there is no file `none.sass`");
}

TEST_F(Include, WhatLeavesThemIsRefused) {
  const std::vector<std::string> folders = {at("work")};
  expect_refused("../secret", folders);
  expect_refused("lib/../../secret", folders);
  expect_refused("../none", folders);  // as if it were there
  expect_refused(at("secret"), folders);
  expect_refused("../workshop/secret", folders);  // its name begins like the folder's
  expect_refused("/etc/passwd", folders);
  expect_refused("..", folders);
  expect_refused(".", folders);
  expect_refused("a.sass", {});
  fs::create_symlink(dir_ / "secret", dir_ / "work/link");
  fs::create_directory_symlink(dir_, dir_ / "work/up");
  fs::create_symlink("a.sass", dir_ / "work/inside");
  expect_refused("link", folders);
  expect_refused("up/secret", folders);
  EXPECT_EQ(message("inside", folders), "MOV R0, RZ\n");
}

TEST_F(Include, TheTemplatesErrorShowsNothingOfIt) {
  write("work/k.sass", ".kernel k\n.include \"../secret\"\nEXIT\n");
  const auto t = read_template(at("work/k.sass"), {});
  ASSERT_TRUE(t.ok());
  const auto image = assemble(*t, Arch::sm_90a, {});
  ASSERT_FALSE(image.ok());
  EXPECT_EQ(image.error().at.line, 2U);
  EXPECT_EQ(image.error().text().find("the secret"), std::string::npos) << image.error().text();
  EXPECT_NE(image.error().text().find("is not below a folder"), std::string::npos) << image.error().text();
}

TEST_F(Include, OnlyOrdinaryFilesAreRead) {
  const auto said = [](const std::string& path, std::size_t most) {
    const Result<std::string> r = read_file(path, most);
    return r.ok() ? *r : r.error().message;
  };
  ASSERT_EQ(::mkfifo(at("work/pipe").c_str(), 0600), 0);  // nobody writes to it
  EXPECT_EQ(said(at("work/pipe"), 100), "`" + at("work/pipe") + "` is a pipe");
  EXPECT_EQ(said("/dev/zero", 100), "`/dev/zero` is a device");
  EXPECT_EQ(said(at("work"), 100), "`" + at("work") + "` is a directory");
  EXPECT_EQ(said(at("none"), 100), "cannot read `" + at("none") + "`: No such file or directory");
  EXPECT_EQ(said(at("secret"), 11), "the secret\n");
  EXPECT_EQ(said(at("secret"), 10), "`" + at("secret") + "` has 11 bytes; at most 10 are read");
  EXPECT_EQ(said("/proc/self/status", 16), "`/proc/self/status` has more than 16 bytes; at most 16 are read");
  const std::string in_template = message("pipe", {at("work")});
  EXPECT_EQ(in_template, "error: `" + fs::canonical(dir_ / "work").string() + "/pipe` is a pipe");
  EXPECT_FALSE(read_template("/dev/zero", {}).ok());
  write("long.sass", std::string(kMaxSourceBytes + 1, '\n'));
  EXPECT_NE(read_template(at("long.sass"), {}).error().message.find("at most"), std::string::npos);
}

}  // namespace
}  // namespace nervanagpu::sass

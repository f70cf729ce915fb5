// ngasm's commands, one source file each. A command gets the arguments after its name and returns the exit status:
// 0 done, 1 the input is wrong (or a hazard, a mismatch, a fault was found), 2 the command line is wrong.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sass/cubin.h"
#include "sass/result.h"

namespace nervanagpu::sass::tools {

using Arguments = std::vector<std::string>;

int cmd_as(const Arguments& args);
int cmd_dis(const Arguments& args);
int cmd_verify(const Arguments& args);
int cmd_run(const Arguments& args);
int cmd_encode(const Arguments& args);
int cmd_roundtrip(const Arguments& args);
int cmd_isa(const Arguments& args);
int cmd_coverage(const Arguments& args);
int cmd_explain(const Arguments& args);
int cmd_new(const Arguments& args);

// A parsed command line: options with a value (each may stand more than once), flags, and the rest in order.
struct Options {
  std::multimap<std::string, std::string> values;
  std::vector<std::string> flags;
  std::vector<std::string> files;

  [[nodiscard]] bool has(std::string_view flag) const;
  [[nodiscard]] std::vector<std::string> all(const std::string& name) const;
  // The last value given; none: not given.
  [[nodiscard]] std::optional<std::string> one(const std::string& name) const;
};

// Accepts "--name VALUE", "--name=VALUE", "-D VALUE" and "-DVALUE". "-h" and "--help" are always flags.
Result<Options> parse_options(const Arguments& args, std::initializer_list<std::string_view> with_value,
                              std::initializer_list<std::string_view> flags);

// Prints "ngasm: error: ..." with a hint at --help; returns 2.
int usage_error(std::string_view command, const std::string& message);
// Prints the Diag; returns 1.
int input_error(const Diag& diag);

// The text after `ngasm COMMAND --help`.
std::string_view help_of(std::string_view command);

inline constexpr std::size_t kMaxCubinBytes = std::size_t{1} << 30;

Result<CubinImage> load_cubin(const std::string& path);
// All or nothing: a temporary file beside `path` takes its place.
Status write_file(const std::string& path, const void* data, std::size_t size);

}  // namespace nervanagpu::sass::tools

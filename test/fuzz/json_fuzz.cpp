// Text as JSON. What parses is one of the values that RFC 8259 has, and prints to text that parses to the same; a layer's
// fields read from it come back the same, too.
#include "layers/config_json.h"

#include <cmath>

#include "nervanagpu/error.hpp"
#include "test/fuzz/fuzz.h"

using namespace nervanagpu;
using namespace nervanagpu::sass::fuzz;

namespace {

// As long as the text, at most: a parser that makes much of little is a hole.
std::size_t values(const Json& j) {
  check(std::isfinite(j.real), "a number that JSON has not");
  std::size_t n = 1;
  for (const Json& item : j.items) n += values(item);
  return n;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  static constexpr std::array kWords = {"{",        "}",        "[",
                                        "]",        ",",        ":",
                                        "\"",       "\\u0041",  "\\ud83d\\ude00",
                                        "\\ud800",  "\\",       "true",
                                        "false",    "null",     "0",
                                        "-0",       "-1",       "1.5",
                                        "1e5",      "1e999",    "-",
                                        "01",       "1.",       "nan",
                                        "inf",      "\"a\":1,", "{\"a\":[]}",
                                        "[[[[[[[[", "]]]]]]]]", "9223372036854775807",
                                        "1e-400",   "\t",       "\xff",
                                        "\"\\n\"",  "\"k\":{}", "-9223372036854775809"};
  Random random(seed + 1);
  if (below(random, 2) == 0) return LLVMFuzzerMutate(data, size, max_size);
  return mutate_word(data, size, max_size, random, kWords[below(random, kWords.size())]);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  try {
    const Json json = parse_json(text);
    check(values(json) <= size, "more values than characters", text);
    const std::string printed = to_text(json);
    check(to_text(parse_json(printed)) == printed, "other text comes back", printed);
    if (json.kind != Json::Kind::object) return 0;
    const std::string fields = to_text(json_of(layers::config_of(json)));
    check(to_text(json_of(layers::config_of(parse_json(fields)))) == fields, "other fields come back", fields);
  } catch (const Error& e) {
    check(*e.what() != '\0', "an error without a message", text);
  }
  return 0;
}

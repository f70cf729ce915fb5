// Tests of nervanagpu.h on an emulator: arrays to the device and back, and what a refusal must say.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nervanagpu/nervanagpu.h"
#include "test/src/on_emulator.h"

namespace nervanagpu::test {

class CApiCalls : public OnEmulator {
 protected:
  template <class T = float>
  static void put(std::uint64_t address, const std::vector<T>& v) {
    EXPECT_EQ(ng_upload(address, v.data(), v.size() * sizeof(T)), NG_OK) << ng_last_error();
  }
  template <class T = float>
  static std::vector<T> get(std::uint64_t address, std::size_t count) {
    std::vector<T> v(count);
    EXPECT_EQ(ng_download(v.data(), address, count * sizeof(T)), NG_OK) << ng_last_error();
    return v;
  }
  // The call is refused with this code, and the message has these words.
  static void expect_refused(ng_status got, ng_status wanted, const std::vector<std::string>& words) {
    EXPECT_STREQ(ng_status_name(got), ng_status_name(wanted)) << ng_last_error();
    const std::string text = ng_last_error();
    for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
  }
};

}  // namespace nervanagpu::test

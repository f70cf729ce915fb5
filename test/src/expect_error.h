// Expects an error of one type with exactly one text.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <typeinfo>

namespace nervanagpu {

template <class E, class F>
void expect_error(const F& f, const std::string& text) {
  try {
    f();
  } catch (const E& e) {
    EXPECT_EQ(typeid(e), typeid(E)) << e.what();
    EXPECT_EQ(std::string(e.what()), text);
    return;
  } catch (const std::exception& e) {
    ADD_FAILURE() << "another error than expected: " << e.what();
    return;
  }
  ADD_FAILURE() << "no error; expected: " << text;
}

}  // namespace nervanagpu

#include "test/kernels/bound.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

namespace nervanagpu::test {
namespace {

class Reader {
 public:
  Reader(std::string_view text, const std::map<std::string, double, std::less<>>& values)
      : text_(text), values_(values) {}

  std::optional<double> run() {
    const double v = sum();
    space();
    if (!good_ || at_ != text_.size()) return std::nullopt;
    return v;
  }

 private:
  void space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  double sum() {
    double v = product();
    while (true) {
      if (take('+')) {
        v += product();
      } else if (take('-')) {
        v -= product();
      } else {
        return v;
      }
    }
  }
  double product() {
    double v = power();
    while (true) {
      if (take('*')) {
        v *= power();
      } else if (take('/')) {
        v /= power();
      } else {
        return v;
      }
    }
  }
  double power() {
    if (take('-')) return -power();
    const double v = value();
    return take('^') ? std::pow(v, power()) : v;
  }
  double value() {
    if (take('(')) {
      const double v = sum();
      good_ &= take(')');
      return v;
    }
    space();
    const std::size_t from = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '.'))
      ++at_;
    const std::string word(text_.substr(from, at_ - from));
    if (word.empty()) {
      good_ = false;
      return 0;
    }
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) return std::strtod(word.c_str(), nullptr);
    if (word == "gamma" || word == "ceil" || word == "min") {
      good_ &= take('(');
      const double x = sum();
      if (word == "min") {
        good_ &= take(',');
        const double y = sum();
        good_ &= take(')');
        return std::min(x, y);
      }
      good_ &= take(')');
      constexpr double kUnit = 0x1p-24;
      return word == "ceil" ? std::ceil(x) : x * kUnit / (1 - x * kUnit);
    }
    const auto known = values_.find(word);
    good_ &= known != values_.end();
    return known == values_.end() ? 0 : known->second;
  }

  std::string_view text_;
  const std::map<std::string, double, std::less<>>& values_;
  std::size_t at_ = 0;
  bool good_ = true;
};

}  // namespace

std::optional<double> bound_of(std::string_view text, const std::map<std::string, double, std::less<>>& values) {
  return Reader(text, values).run();
}

}  // namespace nervanagpu::test

#include "test/gpu/report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>

namespace nervanagpu::gpu_test {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

std::string number(double v) {
  if (!std::isfinite(v)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", v);
  return text;
}

class WriteAtEnd : public ::testing::Environment {
 public:
  void TearDown() override {
    const char* path = std::getenv("NG_GPU_CHECK_JSON");
    if (path == nullptr || path[0] == '\0') return;
    if (const char* commit = std::getenv("NG_COMMIT"); commit != nullptr) report().set_commit(commit);
    try {
      report().write(path);
    } catch (const std::runtime_error& e) {
      ADD_FAILURE() << e.what();
    }
  }
};

const ::testing::Environment* const kAtEnd = ::testing::AddGlobalTestEnvironment(new WriteAtEnd);

}  // namespace

Report& report() {
  static Report one;
  return one;
}

void Report::set_device(std::string name) {
  const std::lock_guard lock(mutex_);
  device_ = std::move(name);
}

void Report::set_commit(std::string commit) {
  const std::lock_guard lock(mutex_);
  commit_ = std::move(commit);
}

void Report::set_peer(const std::string& name, std::int64_t version) {
  const std::lock_guard lock(mutex_);
  peers_[name] = version;
}

void Report::add(const Key& key, std::int64_t elements, double worst, bool failed) {
  const std::lock_guard lock(mutex_);
  Row& row = rows_[key];
  ++row.problems;
  row.elements += elements;
  row.failed += failed ? 1 : 0;
  if (!(worst <= row.worst)) row.worst = worst;
}

void Report::add_unsupported(const Key& key) {
  const std::lock_guard lock(mutex_);
  ++rows_[key].unsupported;
}

std::int64_t Report::problems(const std::string& against) const {
  const std::lock_guard lock(mutex_);
  std::int64_t sum = 0;
  for (const auto& [key, row] : rows_) sum += key.against == against ? row.problems : 0;
  return sum;
}

std::string Report::json() const {
  const std::lock_guard lock(mutex_);
  std::string out = "{\n  \"device\": " + quoted(device_);
  if (!commit_.empty()) out += ",\n  \"commit\": " + quoted(commit_);
  for (const auto& [name, version] : peers_) out += ",\n  " + quoted(name) + ": " + std::to_string(version);
  std::int64_t total = 0;
  for (const auto& [key, row] : rows_) total += key.against == "float64" ? 0 : row.problems;
  out += ",\n  \"problems\": " + std::to_string(total) + ",\n  \"comparisons\": [";
  const char* comma = "";
  for (const auto& [key, row] : rows_) {
    out += std::string(comma) + "\n    {\"op\": " + quoted(key.op) + ", \"type\": " + quoted(key.type) +
           ", \"pass\": " + quoted(key.pass) + ", \"against\": " + quoted(key.against) +
           ", \"problems\": " + std::to_string(row.problems) + ", \"elements\": " + std::to_string(row.elements) +
           ", \"unsupported\": " + std::to_string(row.unsupported) + ", \"failed\": " + std::to_string(row.failed) +
           ", \"worst\": " + number(row.worst) + "}";
    comma = ",";
  }
  return out + (rows_.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

void Report::write(const std::string& path) const {
  std::ofstream file(path);
  file << json();
  file.close();
  if (!file) throw std::runtime_error("NG_GPU_CHECK_JSON: cannot write " + path);
}

}  // namespace nervanagpu::gpu_test

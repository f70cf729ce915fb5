// What was compared, counted for each op, type and pass, and written as JSON to the path in NG_GPU_CHECK_JSON:
//
//   {"device": "NVIDIA H200", "commit": "...", "cublas": 130100, "cudnn": 91300, "problems": 900,
//    "comparisons": [{"op": "conv", "type": "float32", "pass": "fprop", "against": "cudnn", "problems": 60,
//                     "elements": 81920, "unsupported": 0, "failed": 0, "worst": 0.021}, ...]}
//
// worst: the largest |ours - theirs| / bound, null if it is not finite. against: cublas, cudnn (bound: the sum of both),
// float64 (the same problems, ours alone: not counted again in the sum), exact (0 unless something was wrong), or
// reference (float64, for results that are never exact). unsupported: problems that the peer refused. commit: what
// NG_COMMIT says, if anything.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

namespace nervanagpu::gpu_test {

struct Key {
  std::string op, type, pass, against;
  friend bool operator<(const Key& x, const Key& y) {
    return std::tie(x.op, x.type, x.pass, x.against) < std::tie(y.op, y.type, y.pass, y.against);
  }
};

class Report {
 public:
  void set_device(std::string name);
  void set_commit(std::string commit);
  void set_peer(const std::string& name, std::int64_t version);  // "cublas", 130100
  void add(const Key& key, std::int64_t elements, double worst, bool failed);
  void add_unsupported(const Key& key);
  [[nodiscard]] std::string json() const;
  // Throws std::runtime_error if the file cannot be written.
  void write(const std::string& path) const;
  [[nodiscard]] std::int64_t problems(const std::string& against) const;

 private:
  struct Row {
    std::int64_t problems = 0, elements = 0, unsupported = 0, failed = 0;
    double worst = 0.0;
  };
  mutable std::mutex mutex_;
  std::string device_, commit_;
  std::map<std::string, std::int64_t> peers_;
  std::map<Key, Row> rows_;
};

// The process's; written when the tests have ended.
Report& report();

}  // namespace nervanagpu::gpu_test

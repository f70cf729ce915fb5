// Which kernels may have failed: an error of the GPU is seen only at a later call.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>

#include "src/device/device.h"

namespace nervanagpu {

class LaunchLog {
 public:
  void add(const std::string& kernel, const Grid& grid);  // the name is kept by address: it must outlive the log
  void all_done();                                        // everything launched so far has ended well
  // "first kernel since the last synchronisation: K, grid (x, y, z), launch 17; last: ..."; "no kernel was launched".
  [[nodiscard]] std::string text() const;

 private:
  struct Entry {
    const std::string* name = nullptr;  // of the registry or of a module that stays loaded: they outlive the log
    Grid grid;
    std::uint64_t number = 0;
  };
  static std::string describe(const Entry& e);

  mutable std::mutex mutex_;
  std::uint64_t count_ = 0;
  Entry first_;  // since all_done()
  Entry last_;
};

}  // namespace nervanagpu

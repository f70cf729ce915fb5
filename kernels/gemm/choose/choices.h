// Which kernels were the fastest, in a file that any number of processes read and write at the same time.
//
//   {
//     "file": "nervanagpu gemm choices 1",
//     "gpu": "NVIDIA H200, sm_90a",
//     "driver": "13000",
//     "library": "0.1.0",
//     "float32 float32 float32 nt 128 4096 ...": "sgemm_ring_nt_44_64x64"
//   }
//
// One object of strings without escapes. It holds names only, and each is looked up among the kernels that the library
// would launch anyway: whatever a file says, results do not change.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "nervanagpu/device.hpp"

namespace nervanagpu::sgemm {

using Strings = std::map<std::string, std::string>;

// Of the text of a file; none: it is not such an object, to its last character.
std::optional<Strings> read_strings(std::string_view text);
std::string text_of(const Strings& strings);  // the same as text; names and values are those that read_strings() takes

class Choices {
 public:
  // In `folder`, for this device and this version of the library; "": nothing is read or written.
  Choices(const std::string& folder, const DeviceInfo& device);

  // What the file holds, or nothing if there is none, or it is damaged, of another user, or for something else.
  [[nodiscard]] Strings load() const;
  // Puts them into the file, beside what others have put there since. Failures are not reported: a choice that is lost is
  // measured again. A reader sees the old file or the new one.
  void add(const Strings& choices) const;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string folder_, path_;
  Strings head_;
};

}  // namespace nervanagpu::sgemm

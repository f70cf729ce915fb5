#include "layers/batch.h"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

namespace nervanagpu::layers {

void gather_rows(const std::byte* from, std::size_t bytes, const std::function<std::size_t(std::size_t)>& number,
                 std::size_t count, std::byte* to) {
  constexpr std::size_t kBytesOfThread = std::size_t{4} << 20;  // fewer are copied before a thread has started
  constexpr std::size_t kMostThreads = 8;                       // they keep a host's memory busy
  const auto part = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) std::memcpy(to + i * bytes, from + number(i) * bytes, bytes);
  };
  const std::size_t most = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostThreads);
  const std::size_t parts = std::clamp<std::size_t>(bytes * count / kBytesOfThread, 1, most);
  const std::size_t each = (count + parts - 1) / parts;
  std::vector<std::thread> others;
  std::size_t begin = 0;
  try {
    for (; begin + each < count; begin += each) others.emplace_back(part, begin, begin + each);
  } catch (const std::system_error&) {  // no more threads: the rest is copied here
  }
  part(begin, count);
  for (std::thread& t : others) t.join();
}

}  // namespace nervanagpu::layers

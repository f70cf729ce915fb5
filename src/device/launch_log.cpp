#include "src/device/launch_log.h"

namespace nervanagpu {

void LaunchLog::add(const std::string& kernel, const Grid& grid) {
  const std::lock_guard lock(mutex_);
  last_ = {&kernel, grid, ++count_};
  if (first_.name == nullptr) first_ = last_;
}

void LaunchLog::all_done() {
  const std::lock_guard lock(mutex_);
  first_ = {};
}

std::string LaunchLog::describe(const Entry& e) {
  return *e.name + ", grid (" + std::to_string(e.grid.x) + ", " + std::to_string(e.grid.y) + ", " +
         std::to_string(e.grid.z) + "), launch " + std::to_string(e.number);
}

std::string LaunchLog::text() const {
  const std::lock_guard lock(mutex_);
  if (last_.name == nullptr) return "no kernel was launched";
  if (first_.name == nullptr) return "no kernel since the last synchronisation; last: " + describe(last_);
  std::string out = "first kernel since the last synchronisation: " + describe(first_);
  if (last_.number != first_.number) out += "; last: " + describe(last_);
  return out;
}

}  // namespace nervanagpu

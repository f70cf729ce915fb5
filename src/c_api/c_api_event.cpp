// nervanagpu.h: ng_event_*.
#include "nervanagpu/stream.hpp"
#include "src/c_api/c_api.h"

struct ng_event {
  nervanagpu::Event event;
};

namespace {

constexpr const char* kMaker = "ng_event_create";

}  // namespace

using namespace nervanagpu;         // NOLINT(google-build-using-namespace)
using namespace nervanagpu::c_api;  // NOLINT(google-build-using-namespace)

extern "C" {

ng_status ng_event_create(ng_event** event) {
  return guarded([&] {
    if (event == nullptr) refuse("ng_event_create", "event", "null", "where to put the event");
    *event = nullptr;
    *event = new ng_event;
  });
}

ng_status ng_event_record(ng_event* event, uint64_t stream) {
  return guarded(
      [&] { existing("ng_event_record", "event", event, kMaker).event.record(Stream::from_handle(stream)); });
}

ng_status ng_event_synchronize(const ng_event* event) {
  return guarded([&] { existing("ng_event_synchronize", "event", event, kMaker).event.synchronize(); });
}

ng_status ng_stream_wait(uint64_t stream, const ng_event* event) {
  return guarded(
      [&] { existing("ng_stream_wait", "event", event, kMaker).event.make_wait(Stream::from_handle(stream)); });
}

ng_status ng_event_elapsed(const ng_event* start, const ng_event* end, double* ms) {
  constexpr const char* kName = "ng_event_elapsed";
  return guarded([&] {
    if (ms == nullptr) refuse(kName, "ms", "null", "where to put the time");
    const Event& from = existing(kName, "start", start, kMaker).event;
    *ms = existing(kName, "end", end, kMaker).event.ms_since(from);
  });
}

void ng_event_destroy(ng_event* event) {
  delete event;
}

}  // extern "C"

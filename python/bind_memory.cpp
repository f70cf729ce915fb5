// The memory report: which statement of Python holds what.
#include <pybind11/stl.h>

#include "python/bind.h"

namespace nervanagpu::python {

void name_memory_here() noexcept {
  try {
    name_memory(py::module_::import("nervanagpu.trap").attr("statement")().cast<std::string>());
  } catch (const std::exception&) {
    // At the end of the interpreter there may be no statement; the memory then stays without a name.
  }
}

void bind_memory(py::module_& m) {
  m.def("record_memory", &record_memory, py::arg("on"));
  m.def("records_memory", &records_memory);
  m.def("held_memory", [] {
    if (has_unnamed_memory()) name_memory_here();
    std::vector<std::tuple<std::string, std::size_t, std::size_t>> out;
    for (HeldMemory& h : held_memory()) out.emplace_back(std::move(h.place), h.bytes, h.allocations);
    return out;
  });
}

}  // namespace nervanagpu::python

// The memory report: which statement of Python holds what.
#include <pybind11/stl.h>

#include "python/bind.h"

namespace nervanagpu::python {

void name_memory_here() noexcept {
  if (!has_unnamed_memory()) return;
  try {
    in_python([] { name_memory(py::module_::import("nervanagpu.nan_trap").attr("statement")().cast<std::string>()); });
  } catch (const std::exception&) {
    // At the end of the interpreter there may be no statement; the memory then stays without a name.
  }
}

void bind_memory(py::module_& m) {
  m.def(
      "pinned",
      [](const py::object& shape, const py::object& dtype) {
        const py::dtype d = numpy_dtype(dtype_from(dtype));
        const Shape lengths = shape_from(shape);
        std::size_t bytes = static_cast<std::size_t>(d.itemsize());
        for (const std::int64_t n : lengths) {
          if (n < 0) throw InvalidArgument("shape has a length of " + std::to_string(n) + "; needs 0 or more");
          if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(n), &bytes)) {
            throw InvalidArgument("shape " + std::string(py::str(shape)) + ": bytes are more than 2^64 - 1");
          }
        }
        auto* memory = new std::shared_ptr<void>(pinned_memory(bytes));
        const py::capsule owner(memory, [](void* p) { delete static_cast<std::shared_ptr<void>*>(p); });
        return py::array(d, std::vector<py::ssize_t>(lengths.begin(), lengths.end()), memory->get(), owner);
      },
      py::arg("shape"), py::arg("dtype"));
  m.def("record_memory", &record_memory, py::arg("on"));
  m.def("records_memory", &records_memory);
  m.def("kernel_cache", [] {
    const KernelCache c = kernel_cache();
    return std::tuple(c.entries, c.bytes, c.budget, c.evictions, c.loaded);
  });
  m.def("set_kernel_cache", &set_kernel_cache, py::arg("budget"));
  m.def("held_memory", [] {
    name_memory_here();
    std::vector<std::tuple<std::string, std::size_t, std::size_t, int>> out;
    for (HeldMemory& h : held_memory()) out.emplace_back(std::move(h.place), h.bytes, h.allocations, h.device);
    return out;
  });
}

}  // namespace nervanagpu::python

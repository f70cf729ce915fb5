// What device there is.
#include "nervanagpu/overlap.hpp"
#include "python/bind.h"

namespace nervanagpu::python {
namespace {

std::string kind_of(const DeviceInfo& d) {
  return d.kind == DeviceKind::cuda ? "cuda" : "emulator";
}

}  // namespace

void bind_device(py::module_& m) {
  py::class_<DeviceInfo>(m, "DeviceInfo", "The device that everything runs on.")
      .def_property_readonly("kind", &kind_of, "\"cuda\" or \"emulator\".")
      .def_readonly("name", &DeviceInfo::name, "For example \"NVIDIA H200\".")
      .def_readonly("arch", &DeviceInfo::arch, "What its kernels were assembled for: \"sm_90a\".")
      .def_readonly("multiprocessors", &DeviceInfo::multiprocessors, "SMs.")
      .def_readonly("memory", &DeviceInfo::memory, "Bytes of memory.")
      .def_readonly("driver", &DeviceInfo::driver, "CUDA version of the driver, 12040 for 12.4; 0 on the emulator.")
      .def_readonly("checked", &DeviceInfo::checked, "True in the emulator's checked mode.")
      // There is one device, of which every call gives a copy.
      .def("__eq__",
           [](const DeviceInfo& a, const py::object& b) {
             return py::isinstance<DeviceInfo>(b) && b.cast<const DeviceInfo&>().name == a.name;
           })
      .def("__hash__", [](const DeviceInfo& d) { return std::hash<std::string>{}(d.name); })
      .def("__repr__",
           [](const DeviceInfo& d) { return "<" + kind_of(d) + " device: " + d.name + ", " + d.arch + ">"; });
  py::class_<MemoryStats>(m, "MemoryStats", "Device memory in bytes.")
      .def_readonly("in_use", &MemoryStats::in_use, "Held by tensors.")
      .def_readonly("peak", &MemoryStats::peak, "The most that was ever in use.")
      .def_readonly("reserved", &MemoryStats::reserved, "Taken from the device: in use or cached.")
      .def_readonly("allocations", &MemoryStats::allocations, "How many were asked for.")
      .def_readonly("reused", &MemoryStats::reused, "How many of them the cache served.")
      .def("__repr__", [](const MemoryStats& s) {
        return "<MemoryStats: " + std::to_string(s.in_use) + " bytes in use, " + std::to_string(s.reserved) +
               " reserved>";
      });
  m.def(
      "device",
      [] {
        const GilRelease release;
        return device();
      },
      "The device everything runs on; chosen at the first use (see NERVANAGPU_DEVICE).");
  m.def("overlap_launches", &overlap_launches);
  m.def("synchronize", &synchronize, py::call_guard<GilRelease>(),
        "Wait for all work of all streams; raises what went wrong in it.");
  m.def("memory_stats", &memory_stats, py::call_guard<GilRelease>(), "Device memory in use and cached.");
  m.def("release_captured_memory", &release_captured_memory, py::call_guard<GilRelease>(),
        "Temporary memory of work captured in a CUDA graph stays the graph's own. Once every such graph is destroyed, "
        "this "
        "gives it back to the pool.");
  m.def("release_cached_memory", &release_cached_memory, py::call_guard<GilRelease>(),
        "Give cached memory back to the device.");
  m.def("doctor", &doctor, py::call_guard<GilRelease>(),
        "What was found on this machine, what was chosen and why, as text.");
}

}  // namespace nervanagpu::python

// What devices there are.
#include <optional>
#include <vector>

#include "nervanagpu/memory_report.hpp"
#include "nervanagpu/overlap.hpp"
#include "python/bind.h"

namespace nervanagpu::python {
namespace {

std::string kind_of(const DeviceInfo& d) {
  return d.kind == DeviceKind::cuda ? "cuda" : "emulator";
}

thread_local std::vector<int> entered;  // what was current before each `with`

void use(int ordinal) {
  const GilRelease release;
  set_device(ordinal);
}

// `call` on the device that an argument names.
template <class Result>
auto on_device(Result (*call)()) {
  return [call](const py::object& which) {
    const int ordinal = which.is_none() ? -1 : device_from(which);
    const GilRelease release;
    const OnDevice there(ordinal);
    return call();
  };
}

}  // namespace

int device_from(const py::object& which) {
  if (py::isinstance<DeviceInfo>(which)) return which.cast<const DeviceInfo&>().ordinal;
  const auto refuse = [&](const std::string& needed) -> int {
    throw InvalidArgument("device is " + std::string(py::repr(which)) + "; needs " + needed);
  };
  std::int64_t ordinal = -1;
  if (py::isinstance<py::str>(which)) {
    const auto text = which.cast<std::string>();
    const std::string kind = kind_of(device());
    if (text == kind) return get_device();
    const bool of_kind = text.starts_with(kind + ":") && text.size() > kind.size() + 1 && text.size() < kind.size() + 5;
    const std::string digits = of_kind ? text.substr(kind.size() + 1) : "";
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) {
      return refuse("an ordinal, \"" + kind + ":0\" or what ng.device() gives");
    }
    ordinal = std::stoi(digits);
  } else if (PyBool_Check(which.ptr()) != 0 || PyIndex_Check(which.ptr()) == 0) {
    throw TypeError("device is " + std::string(py::repr(which)) + "; needs an ordinal, \"" + kind_of(device()) +
                    ":0\" or what ng.device() gives");
  } else {
    ordinal = integer_from(which, "device");
  }
  if (ordinal < 0 || ordinal >= device_count()) return refuse("0 to " + std::to_string(device_count() - 1));
  return static_cast<int>(ordinal);
}

void bind_device(py::module_& m) {
  py::class_<DeviceInfo>(
      m, "DeviceInfo",
      "A device. `with device:` makes it this thread's current one, where tensors are made, and puts the one "
      "before back at the end.")
      .def_property_readonly("kind", &kind_of, "\"cuda\" or \"emulator\".")
      .def_readonly("ordinal", &DeviceInfo::ordinal, "0, 1, ...: the CUDA driver's.")
      .def_readonly("name", &DeviceInfo::name, "For example \"NVIDIA H200\".")
      .def_readonly("arch", &DeviceInfo::arch, "What its kernels were assembled for: \"sm_90a\".")
      .def_readonly("multiprocessors", &DeviceInfo::multiprocessors, "SMs.")
      .def_readonly("memory", &DeviceInfo::memory, "Bytes of memory.")
      .def_readonly("driver", &DeviceInfo::driver, "CUDA version of the driver, 12040 for 12.4; 0 on the emulator.")
      .def_readonly("checked", &DeviceInfo::checked, "True in the emulator's checked mode.")
      // Every call gives a copy.
      .def("__eq__",
           [](const DeviceInfo& a, const py::object& b) {
             return py::isinstance<DeviceInfo>(b) && b.cast<const DeviceInfo&>().ordinal == a.ordinal &&
                    b.cast<const DeviceInfo&>().name == a.name;
           })
      .def("__hash__", [](const DeviceInfo& d) { return std::hash<std::string>{}(d.name); })
      .def("__repr__",
           [](const DeviceInfo& d) {
             const std::string number = d.ordinal == 0 ? "" : " " + std::to_string(d.ordinal);
             return "<" + kind_of(d) + " device" + number + ": " + d.name + ", " + d.arch + ">";
           })
      .def(
          "use", [](const DeviceInfo& d) { use(d.ordinal); }, "Make it this thread's current device.")
      .def("__enter__",
           [](const DeviceInfo& d) {
             const int before = get_device();
             use(d.ordinal);
             entered.push_back(before);
             return d;
           })
      .def("__exit__", [](const DeviceInfo& /*d*/, const py::args& /*error*/) {
        if (entered.empty()) throw Error("device: the block was not entered in this thread");
        const int before = entered.back();
        entered.pop_back();
        use(before);
      });
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
      [](const py::object& which) {
        const int ordinal = which.is_none() ? -1 : device_from(which);
        const GilRelease release;
        return ordinal < 0 ? device() : device(ordinal);
      },
      py::arg("which") = py::none(),
      "This thread's current device, or the one of an ordinal: 0, 1, ..., \"cuda:1\", \"emulator:1\". Their kind is "
      "chosen\n"
      "at the first use (see NERVANAGPU_DEVICE). `with ng.device(1):` makes it current in the block. ValueError if "
      "there\n"
      "is none of that ordinal.");
  m.def("device_count", &device_count, py::call_guard<GilRelease>(),
        "How many devices there are: GPUs, or emulated ones (NERVANAGPU_EMULATOR_DEVICES).");
  // For the package's own parts.
  m.def("get_device", &get_device);
  m.def("set_device", &use);
  m.def("ordinal_of", &device_from);
  m.def("device_at", &device_of);
  m.def("in_driver_context", [](int ordinal, const py::object& call, const py::args& arguments) {
    std::optional<DriverContext> context;
    {
      const GilRelease release;  // opening a device takes its time
      context.emplace(ordinal);
    }
    return py::object(call(*arguments));
  });
  m.def("other_devices_used", &other_devices_used);
  m.def("other_devices_possible", &other_devices_possible);
  m.def("tensor_device", [](const py::object& tensor) {
    if (!py::isinstance<Tensor>(tensor)) {
      throw TypeError("tensor is " + std::string(py::str(py::type::of(tensor).attr("__name__"))) + "; needs GPUTensor");
    }
    const Lazy* l = lazy_of(tensor);
    const int known = l != nullptr && !l->forced ? l->expr.device() : tensor.cast<const Tensor&>().device();
    return known < 0 ? get_device() : known;
  });
  m.def("overlap_launches", &overlap_launches);
  m.def("synchronize", on_device(&synchronize), py::arg("device") = py::none(),
        "Wait for all work of all streams of a device (None: the current one); raises what went wrong in it.");
  m.def("memory_stats", on_device(&memory_stats), py::arg("device") = py::none(),
        "Memory in use and cached on a device (None: the current one).");
  m.def("set_memory_limit", &set_memory_limit);
  m.def("memory_limit", &memory_limit);
  m.def("release_captured_memory", &release_captured_memory, py::call_guard<GilRelease>(),
        "Temporary memory of work captured in a CUDA graph stays the graph's own. Once every such graph is destroyed, "
        "this "
        "gives it back to the pool.");
  m.def("release_cached_memory", on_device(&release_cached_memory), py::arg("device") = py::none(),
        "Give cached memory back to a device (None: the current one).");
  m.def("doctor", &doctor, py::call_guard<GilRelease>(),
        "What was found on this machine, what was chosen and why, as text.");
}

}  // namespace nervanagpu::python

// The assembler, cubins and modules. nervanagpu/kernels/toolchain.py gives them their Python shape.
#include <pybind11/stl.h>

#include "nervanagpu/module.hpp"
#include "python/bind.h"
#include "python/to_python.h"

namespace nervanagpu::python {
namespace {

using Dimensions = std::vector<std::uint32_t>;

// An int or a sequence of ints; None: empty.
Dimensions dimensions(const char* what, const py::object& value) {
  if (value.is_none()) return {};
  Dimensions out;
  const auto add = [&](const py::handle& item) {
    const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(item.ptr()));
    if (!index) {
      PyErr_Clear();
      throw TypeError(std::string(what) + " has a " + type_name(item) + "; needs ints");
    }
    const long long n = PyLong_AsLongLong(index.ptr());
    if (PyErr_Occurred() != nullptr || n < 0 || n > 0x7fffffff) {
      PyErr_Clear();
      throw InvalidArgument(std::string(what) + " has " + std::string(py::str(index)) + "; needs 1 to 2147483647");
    }
    out.push_back(static_cast<std::uint32_t>(n));
  };
  if (PySequence_Check(value.ptr()) != 0 && !py::isinstance<py::str>(value)) {
    for (const py::handle& item : value) add(item);
  } else {
    add(value);
  }
  return out;
}

std::vector<std::byte> bytes_of(const py::handle& value) {
  const std::string raw = py::reinterpret_borrow<py::bytes>(value);
  const auto* data = reinterpret_cast<const std::byte*>(raw.data());
  return {data, data + raw.size()};
}

// A Python or NumPy value as it is; what parameter it fits is the launch's question.
Argument argument_from(std::size_t index, const py::handle& value) {
  const std::string title = "argument " + std::to_string(index);
  if (py::isinstance<Tensor>(value)) return value.cast<Tensor>();
  if (py::isinstance<py::bytes>(value)) return bytes_of(value);
  if (py::hasattr(value, "_texture_handle")) return value.attr("_texture_handle").cast<std::uint64_t>();
  if (py::hasattr(value, "_tensor_map_bytes")) return bytes_of(value.attr("_tensor_map_bytes"));
  if (PyFloat_Check(value.ptr()) != 0) return value.cast<double>();
  if (py::hasattr(value, "__cuda_array_interface__")) {
    const py::dict facts = value.attr("__cuda_array_interface__");
    return facts["data"].cast<py::tuple>()[0].cast<std::uint64_t>();
  }
  if (py::isinstance<py::array>(value)) {
    throw TypeError(title + " is a numpy.ndarray, which lies in host memory; needs a GPUTensor: ng.array(it)");
  }
  if (PyLong_Check(value.ptr()) == 0 && PyIndex_Check(value.ptr()) == 0) {
    const bool scalar = py::isinstance(value, py::module_::import("numpy").attr("generic"));
    if (scalar) return argument_from(index, value.attr("item")());  // numpy.float32, numpy.bool_
    throw TypeError(title + " is a " + type_name(value) + "; needs a GPUTensor, an int, a float or bytes");
  }
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!number) throw py::error_already_set();
  int overflow = 0;
  const long long n = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow == 0) return n;
  const unsigned long long u = overflow > 0 ? PyLong_AsUnsignedLongLong(number.ptr()) : 0;
  if (overflow < 0 || PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw InvalidArgument(title + " is " + std::string(py::str(number)) + ", which has more than 64 bits");
  }
  return u;
}

void launch(const Module& module, const std::string& kernel, const py::object& grid, const py::object& block,
            const py::tuple& args, const py::object& shared, const py::object& stream) {
  std::vector<Argument> values;
  for (std::size_t i = 0; i < args.size(); ++i) values.push_back(argument_from(i, args[i]));
  const Dimensions g = dimensions("grid", grid);
  const Dimensions b = dimensions("block", block);
  std::optional<std::uint32_t> bytes;
  if (!shared.is_none()) {
    const Dimensions one = dimensions("shared", shared);
    if (one.size() != 1) throw InvalidArgument("shared is one number of bytes");
    bytes = one.front();
  }
  const Stream s = stream_from(stream);
  // A kernel may write any of them.
  for (const Argument& a : values) {
    if (const Tensor* t = std::get_if<Tensor>(&a.value)) before_sharing(*t);
  }
  const GilRelease release;
  module.launch(kernel, g, b, values, bytes, s);
}

}  // namespace

void bind_toolchain(py::module_& m) {
  py::class_<KernelParam>(m, "KernelParam", "One parameter of a kernel.")
      .def_readonly("name", &KernelParam::name, "Empty in cubins that are not ours.")
      .def_readonly("type", &KernelParam::type, "\"f32\", \"ptr\"; \"4 bytes\" in cubins that do not say more.")
      .def_readonly("offset", &KernelParam::offset, "Bytes from the start of the parameter block.")
      .def_readonly("bytes", &KernelParam::bytes, "Its size.")
      .def("__repr__", [](const KernelParam& p) { return "<KernelParam: " + p.type + " " + p.name + ">"; });
  py::class_<KernelInfo>(m, "KernelInfo", "What a cubin says of a kernel.")
      .def_readonly("name", &KernelInfo::name)
      .def_readonly("instructions", &KernelInfo::instructions, "How many it has.")
      .def_readonly("registers", &KernelInfo::registers, "Of a thread.")
      .def_readonly("shared", &KernelInfo::shared, "Bytes of static shared memory of a block.")
      .def_readonly("dynamic", &KernelInfo::dynamic, "Bytes of dynamic shared memory that it asks for.")
      .def_readonly("local", &KernelInfo::local, "Bytes of local memory of a thread.")
      .def_readonly("threads", &KernelInfo::threads, "Of a block, exactly; 0: not stated.")
      .def_readonly("max_threads", &KernelInfo::max_threads, "Of a block, at most.")
      .def_readonly("params", &KernelInfo::params, "Its parameters in order.")
      .def_readonly("param_bytes", &KernelInfo::param_bytes, "Size of the parameter block.")
      .def_readonly("cluster", &KernelInfo::cluster, "Blocks that run together, along x, y and z.")
      .def_readonly("variant", &KernelInfo::variant, "The definitions it was expanded with.")
      .def("__repr__", [](const KernelInfo& k) {
        return "<KernelInfo: " + k.name + ", " + std::to_string(k.instructions) + " instructions, " +
               std::to_string(k.registers) + " registers>";
      });
  py::class_<Hazard>(m, "Hazard", "What the hazard proof found.")
      .def_readonly("kernel", &Hazard::kernel)
      .def_readonly("text", &Hazard::text, "One sentence.")
      .def_readonly("file", &Hazard::file, "Template; empty if unknown.")
      .def_readonly("line", &Hazard::line, "Of the instruction that comes too early; 0 if unknown.")
      .def_readonly("producer", &Hazard::producer, "Index of the instruction that comes first.")
      .def_readonly("consumer", &Hazard::consumer, "Index of the instruction that comes too early.")
      .def("__str__", [](const Hazard& h) { return h.text; })
      .def("__repr__", [](const Hazard& h) { return "<Hazard: " + h.text + ">"; });
  py::class_<Cubin>(m, "Cubin", "A cubin in memory: assembled here, or read from bytes.")
      .def(py::init([](const py::bytes& bytes) {
             const std::string raw = bytes;
             return Cubin::read({reinterpret_cast<const std::uint8_t*>(raw.data()), raw.size()});
           }),
           py::arg("bytes"), "Of ours or of NVIDIA's assembler; ValueError on bytes that are no cubin.")
      .def_property_readonly(
          "bytes",
          [](const Cubin& c) { return py::bytes(reinterpret_cast<const char*>(c.bytes().data()), c.bytes().size()); },
          "The file.")
      .def_property_readonly("arch", &Cubin::arch, "\"sm_90a\".")
      .def_property_readonly("kernels", &Cubin::kernels, "What it says of each kernel.")
      .def_property_readonly("listing", &Cubin::listing, "Every kernel as text, with control codes.")
      .def_property_readonly(
          "report", &Cubin::report,
          "As `ngasm as --report`; of a cubin that was read: registers, memory, parameters and the proof.")
      .def("verify", &Cubin::verify, py::call_guard<GilRelease>(), "Every hazard; []: proven.")
      .def("__repr__", [](const Cubin& c) {
        return "<Cubin for " + c.arch() + ": " + std::to_string(c.kernels().size()) + " kernels, " +
               std::to_string(c.bytes().size()) + " bytes>";
      });
  m.def(
      "assemble",
      [](const std::string& text, const std::string& arch, const std::string& name,
         const std::map<std::string, std::string>& defines, const std::vector<std::string>& include_dirs) {
        const GilRelease release;
        return Cubin::assemble(text, {name, arch, defines, include_dirs});
      },
      py::arg("text"), py::arg("arch"), py::arg("name"), py::arg("defines"), py::arg("include_dirs"));
  py::class_<Module>(m, "Module")
      .def(py::init([](const Cubin& cubin) {
             const GilRelease release;
             return Module(cubin);
           }),
           py::arg("cubin"))
      .def_property_readonly("cubin", &Module::cubin)
      .def(
          "variable",
          [](const Module& m, const std::string& name) {
            const Module::Variable v = m.variable(name);
            return std::pair(v.address, v.bytes);
          },
          py::arg("name"), "(address, bytes) of a __device__ or __constant__ variable.")
      .def("launch", &launch, py::arg("kernel"), py::arg("grid"), py::arg("block"), py::arg("args"), py::arg("shared"),
           py::arg("stream"));
}

}  // namespace nervanagpu::python

// The library's errors as Python's exceptions.
#include <pybind11/stl.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "nervanagpu/module.hpp"
#include "python/bind.h"

namespace nervanagpu::python {
namespace {

// The module's own exception types; they live as long as the process.
struct Types {
  PyObject* error = nullptr;
  PyObject* device_lost = nullptr;
  PyObject* check_error = nullptr;
  PyObject* assemble_error = nullptr;
};
Types types;

// The three places that hold most, if that is recorded.
std::string holders_text() {
  std::string out;
  if (!records_memory()) return out;
  const std::vector<HeldMemory> all = held_memory();
  for (std::size_t i = 0; i < std::min<std::size_t>(all.size(), 3); ++i) {
    out += "\n  " + std::to_string(all[i].bytes) + " bytes: " + (all[i].place.empty() ? "elsewhere" : all[i].place);
  }
  return out;
}

PyObject* make_type(py::module_& m, const char* name, const char* doc, PyObject* base) {
  PyObject* type = PyErr_NewExceptionWithDoc((std::string("nervanagpu.") + name).c_str(), doc, base, nullptr);
  if (type == nullptr) throw py::error_already_set();
  m.attr(name) = py::handle(type);
  return type;
}

void raise_check_error(const CheckError& e) {
  py::object instance = py::handle(types.check_error)(e.what());
  instance.attr("findings") = py::cast(e.findings());
  PyErr_SetObject(types.check_error, instance.ptr());
}

void raise_assemble_error(const AssembleError& e) {
  py::object instance = py::handle(types.assemble_error)(e.what());
  instance.attr("message") = e.message();
  instance.attr("file") = e.file();
  instance.attr("line") = e.line();
  instance.attr("column") = e.column();
  PyErr_SetObject(types.assemble_error, instance.ptr());
}

// NumPy's AxisError, a ValueError and an IndexError, for an axis that there is not.
PyObject* axis_error() {
  static PyObject* type = [] {
    const py::module_ numpy = py::module_::import("numpy");
    const char* const where = py::hasattr(numpy, "exceptions") ? "numpy.exceptions" : "numpy";
    return py::object(py::module_::import(where).attr("AxisError")).release().ptr();
  }();
  return type;
}

bool names_no_axis(const std::string& text) {
  const std::size_t at = text.find(": axis ");
  return at != std::string::npos && text.find(" is out of range; ", at) != std::string::npos;
}

void translate(std::exception_ptr p) {
  try {
    if (p) std::rethrow_exception(std::move(p));
  } catch (const CheckError& e) {
    raise_check_error(e);
  } catch (const AssembleError& e) {
    raise_assemble_error(e);
  } catch (const DeviceLost& e) {
    PyErr_SetString(types.device_lost, e.what());
  } catch (const OutOfMemory& e) {
    PyErr_SetString(PyExc_MemoryError, (e.what() + holders_text()).c_str());
  } catch (const TypeError& e) {
    PyErr_SetString(PyExc_TypeError, e.what());
  } catch (const OutOfRange& e) {
    PyErr_SetString(PyExc_OverflowError, e.what());
  } catch (const InvalidArgument& e) {
    PyErr_SetString(names_no_axis(e.what()) ? axis_error() : PyExc_ValueError, e.what());
  } catch (const Error& e) {
    PyErr_SetString(types.error, e.what());
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError, out_of_host_memory("more").what());
  } catch (const std::length_error&) {  // of a container
    PyErr_SetString(PyExc_MemoryError, out_of_host_memory("more").what());
  }
}

}  // namespace

void bind_errors(py::module_& m) {
  py::class_<Finding>(m, "Finding", "One thing a kernel did wrong on the emulator, and where.")
      .def_readonly("what", &Finding::what, "What happened: \"read before ready\", \"out of bounds\", \"fault\", ...")
      .def_readonly("detail", &Finding::detail, "One sentence.")
      .def_readonly("kernel", &Finding::kernel, "Name of the kernel.")
      .def_readonly("file", &Finding::file, "Template; empty if unknown.")
      .def_readonly("line", &Finding::line, "Line of the template; 0 if unknown.")
      .def_readonly("pc", &Finding::pc, "Byte address in the kernel.")
      .def_readonly("cta", &Finding::cta, "[x, y, z] of the CTA.")
      .def_readonly("warp", &Finding::warp, "Warp of the CTA.")
      .def_readonly("lane", &Finding::lane, "Lane of the warp.")
      .def_readonly("count", &Finding::count, "How often the same thing happened at the same pc.")
      .def("__str__", [](const Finding& f) { return f.text; })
      .def("__repr__", [](const Finding& f) { return "<Finding: " + f.text + ">"; });
  types.error =
      make_type(m, "Error", "Something outside the caller's control failed: the driver, a cubin.", PyExc_RuntimeError);
  types.device_lost = make_type(
      m, "DeviceLost", "The GPU context is gone; every later call raises the first failure again.", types.error);
  types.check_error =
      make_type(m, "CheckError", "What the emulator found in a kernel; `findings` lists it.", types.error);
  types.assemble_error =
      make_type(m, "AssembleError",
                "Text that cannot be assembled: `message`, `file`, `line`, `column`; as a string the "
                "whole diagnostic.",
                PyExc_ValueError);
  py::register_exception_translator(&translate);
}

}  // namespace nervanagpu::python

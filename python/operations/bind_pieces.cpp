// ng.Pieces, and products with them.
#include "python/operations/bind_pieces.h"

#include <pybind11/stl.h>

#include "python/operations/bind_dot.h"

namespace nervanagpu::python {
namespace {

PyTypeObject* pieces_type = nullptr;

template <class A, class B>
void bind_dot(py::module_& m, const char* name) {
  m.def(name, &dot_of<A, B>, py::arg("a"), py::arg("b"), py::arg("out"), py::arg("alpha"), py::arg("beta"),
        py::arg("bias"), py::arg("relu"), py::arg("relu_first"), py::arg("rounding"), py::arg("stream"),
        py::arg("tile"), py::arg("splits"), py::arg("tensor_cores"), py::arg("activation"), py::arg("clip"),
        py::arg("scale"), py::arg("mask"), py::arg("sums"));
}

}  // namespace

const Pieces* pieces_of(const py::handle& h) {
  return Py_TYPE(h.ptr()) == pieces_type ? h.cast<const Pieces*>() : nullptr;
}

void bind_pieces(py::module_& m) {
  py::class_<Pieces> c(
      m, "Pieces", py::is_final(),
      "A float32 matrix split once for products with precision=\"tensor\", of which each would "
      "split it again.\n\n"
      "Pieces(matrix, pieces=2, stream=None): `matrix` is a GPUTensor of two axes, any view. `ng.dot` "
      "and `ng.GemmPlan` take\n"
      "it for a or b, as it is or transposed (.T), and give the bits that they give for the matrix.\n"
      "It is a value, as matrix.astype(...) would be: it holds a copy of the matrix, and what is "
      "written to that later is not\n"
      "seen; set() takes another one. Work is queued in `stream`.\n"
      "pieces: 2, which large products take, or 3, which others take, and those with `splits` "
      "(GemmPlan.pieces says it). A\n"
      "product that wants others, or none, is computed from the copy.\n"
      "shape, ndim, dtype, T; pieces: their number. nbytes: of device memory: 8 (of three pieces 10) an element, "
      "and 6 KiB.\n"
      "TypeError: not float32. ValueError: not two axes, or another number of pieces.");
  c.def(py::init([](const Tensor& matrix, int pieces, const py::object& stream) {
          const Stream queue = stream_from(stream);
          const GilRelease release;
          return Pieces(matrix, pieces, queue);
        }),
        py::arg("matrix"), py::arg("pieces") = 2, py::arg("stream") = py::none());
  c.def(
      "set",
      [](Pieces& p, const Tensor& matrix, const py::object& stream) {
        const Stream queue = stream_from(stream);
        const GilRelease release;
        p.set(matrix, queue);
      },
      py::arg("matrix"), py::arg("stream") = py::none(),
      "Become another matrix of this shape; .T does, too. Work that is queued later sees it. In a graph's capture: at "
      "each launch of\nthe graph, what the matrix holds then.");
  c.def(
      "copy",
      [](const Pieces& p) {
        const GilRelease release;
        return p.copy();
      },
      "The matrix, as a tensor of its own.");
  c.def_property_readonly("T", &Pieces::transpose, "Transposed; of the same memory.");
  c.def_property_readonly("shape", [](const Pieces& p) { return py::tuple(py::cast(p.shape())); });
  c.def_property_readonly("ndim", [](const Pieces& p) { return p.shape().size(); });
  c.def_property_readonly("dtype", [](const Pieces&) { return dtype_object(Dtype::float32); });
  c.def_property_readonly("pieces", &Pieces::count);
  c.def_property_readonly("nbytes", &Pieces::bytes);
  pieces_type = reinterpret_cast<PyTypeObject*>(c.ptr());
  bind_dot<Tensor, Pieces>(m, "dot_by_pieces");
  bind_dot<Pieces, Tensor>(m, "dot_of_pieces");
}

}  // namespace nervanagpu::python

// The module itself: every part in its order.
#include "python/bind.h"

PYBIND11_MODULE(_core, m) {
  m.doc() = "The compiled part of nervanagpu.";
  m.def("version", &nervanagpu::version, "Version of the loaded library, for example \"0.1.0\".");
  pybind11::detail::npy_api::get();  // its first call lets go of the GIL, in pybind11's way (python/gil.h)
  nervanagpu::python::bind_errors(m);
  nervanagpu::python::bind_device(m);
  nervanagpu::python::bind_memory(m);
  nervanagpu::python::bind_stream(m);
  nervanagpu::python::bind_tensor(m);
  nervanagpu::python::bind_dlpack(m);
  nervanagpu::python::bind_expr(m);
  nervanagpu::python::bind_fast_slots(m);
  nervanagpu::python::bind_gemm(m);
  nervanagpu::python::bind_pieces(m);
  nervanagpu::python::bind_gemm_plan(m);
  nervanagpu::python::bind_conv(m);
  nervanagpu::python::bind_conv_pool(m);
  nervanagpu::python::bind_conv_plan(m);
  nervanagpu::python::bind_nn(m);
  nervanagpu::python::bind_pool(m);
  nervanagpu::python::bind_pool_plan(m);
  nervanagpu::python::bind_layers(m);
  nervanagpu::python::bind_xla(m);
  nervanagpu::python::bind_toolchain(m);
  nervanagpu::python::bind_tensor_map(m);
  nervanagpu::python::bind_texture(m);
  nervanagpu::python::bind_arguments(m);
}

// Streams and events.
#include "python/bind.h"

namespace nervanagpu::python {

Stream stream_from(const py::object& stream) {
  if (stream.is_none()) return {};
  if (!py::isinstance<Stream>(stream)) {
    // The streams of nervanagpu.cupy and nervanagpu.pycuda keep ours there, or None.
    if (py::hasattr(stream, "_stream")) return stream_from(stream.attr("_stream"));
    throw TypeError("stream is " + std::string(py::str(py::type::of(stream).attr("__name__"))) +
                    "; needs Stream or None");
  }
  // What was written before belongs before the work of another stream.
  evaluate_pending();
  return stream.cast<Stream>();
}

void wait_for(const py::object& stream) {
  if (stream.is_none()) return;
  const Stream s = stream_from(stream);
  const GilRelease release;
  s.synchronize();
}

void bind_stream(py::module_& m) {
  py::class_<Stream>(m, "Stream", "A queue of work beside the default one; None means the default one everywhere.")
      .def(py::init([] {
             const GilRelease release;
             return Stream::create();
           }),
           "A new queue.")
      .def_static("from_handle", &Stream::from_handle, py::arg("handle"),
                  "A CUstream of the caller's, who keeps it alive, as an integer.")
      .def_property_readonly("handle", &Stream::handle, "The CUstream as an integer; 0 is the default stream.")
      .def("synchronize", &Stream::synchronize, py::call_guard<GilRelease>(), "Wait for the work queued so far.");
  py::class_<Event>(m, "Event", "A mark in a stream, for timing: record two, then `end.ms_since(start)`.")
      .def(py::init([] {
        const GilRelease release;
        return Event();
      }))
      .def(
          "record",
          [](Event& e, const py::object& stream) {
            const Stream s = stream_from(stream);
            const GilRelease release;
            e.record(s);
          },
          py::arg("stream") = py::none(), "Mark this point of `stream`.")
      .def("synchronize", &Event::synchronize, py::call_guard<GilRelease>(), "Wait until the mark is passed.")
      .def("ms_since", &Event::ms_since, py::arg("start"), py::call_guard<GilRelease>(),
           "Milliseconds from `start` to here; waits for both. ValueError if one was never recorded.")
      .def(
          "make_wait",
          [](const Event& e, const py::object& stream) {
            const Stream s = stream_from(stream);
            const GilRelease release;
            e.make_wait(s);
          },
          py::arg("stream") = py::none(), "Let later work of `stream` wait for the mark.");
  py::class_<Graph>(
      m, "Graph",
      "Work that is recorded once and launched often: Graph(body) records what body() queues, expressions and\n"
      "statements in place among them; launch() does it, with the operands' elements of then.")
      .def(py::init([](const py::function& body, const py::object& stream) {
             const auto call = [&body] {
               const GilAcquire acquire;
               in_python([&] { body(); });
             };
             return stream.is_none() ? Graph::capture(call) : Graph::capture(call, stream_from(stream));
           }),
           py::arg("body"), py::arg("stream") = py::none(),
           "Record body(), which takes no arguments. Keep the tensors that it uses; what it computes stands in tensors "
           "that\n"
           "it writes to. Host copies and waiting are refused meanwhile. Random numbers are those of the recording. "
           "What\n"
           "body raises is raised, and nothing is recorded. ValueError while this thread records another graph.")
      .def(
          "launch",
          [](const Graph& g, const py::object& stream) {
            const Stream s = stream_from(stream);
            const GilRelease release;
            g.launch(s);
          },
          py::arg("stream") = py::none(), "Queue all of it.")
      .def_static("recording", &Graph::recording, "Whether this thread is inside of the body of one.");
}

}  // namespace nervanagpu::python

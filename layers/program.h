// One batch size and mode of a network as a list of operations, and where their tensors lie in one arena.
//
// Layers write down what they will do, with the tensors each operation touches. A tensor lives from the first to the
// last of them; tensors that never live at the same time may share memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nervanagpu/rounding.hpp"
#include "nervanagpu/stream.hpp"
#include "nervanagpu/tensor.hpp"

namespace nervanagpu::layers {

Tensor row_major(std::uint64_t address, const Shape& shape, Dtype dtype);  // of memory of somebody else's

// A tensor of a program, or a contiguous part of one under another shape.
struct Ref {
  int id = -1;              // the memory
  std::int64_t offset = 0;  // bytes after its start
  Shape shape;
  Dtype dtype = Dtype::float32;
  std::int64_t pitch =
      0;  // elements from one to the next along the last axis but one, of a part of channels; 0: no gaps
  // Nobody needs the content after the next operation: that one may overwrite it with its result.
  bool disposable = false;

  [[nodiscard]] bool valid() const { return id >= 0; }
  [[nodiscard]] std::int64_t size() const;
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] Ref reshaped(Shape other) const;
  [[nodiscard]] Ref flat() const { return reshaped({size()}); }
  // `count` indices of the last axis, of a tensor without gaps.
  [[nodiscard]] Ref channels(std::int64_t start, std::int64_t count) const;
  // `count` indices of the first axis.
  [[nodiscard]] Ref rows(std::int64_t start, std::int64_t count) const;
};

// What operations find at run time.
struct Run {
  const class Program* program = nullptr;  // whose tensors these are; set before it runs
  std::uint64_t arena = 0;                 // address
  struct Sent {
    std::uint64_t samples = 0, labels = 0;  // addresses: samples as the host has them, (n, ..., C), and int32
    Dtype dtype = Dtype::float32;
  } sent;
  Stream stream;
  std::uint64_t seed = 0;
  std::uint64_t step = 0;  // of training, from 0
  Rounding mode;           // stochastic and bits; seed and offset come from below
  std::uint64_t counters = 0;
  std::function<void(const std::string& layer, const char* what, const Tensor& t)> observer;
  std::function<void()> interrupt;  // called before each operation; what it throws ends the pass

  [[nodiscard]] Tensor tensor(const Ref& r) const;
  [[nodiscard]] std::uint64_t address(const Ref& r) const;
  // The rounding of the next result of so many elements. Counters start anew at step * 2^40.
  Rounding rounding(std::int64_t elements);
};

class Program {
 public:
  explicit Program(bool training) : training_(training) {}
  [[nodiscard]] bool training() const { return training_; }

  Ref make(Shape shape, Dtype dtype);
  // `uses`: every tensor that `run` reads or writes; invalid ones are skipped.
  void add(const std::vector<Ref>& uses, std::function<void(Run&)> run);
  // What differs from step to step, such as random numbers: done before the forward pass of each, and never recorded in a
  // graph, which replays the rest.
  void ahead(const std::vector<Ref>& uses, std::function<void(Run&)> run);
  // For statistics, if somebody listens.
  void observe(const std::string& layer, const char* what, const Ref& r);
  // Content that is put there before the next operation.
  void arrives(const Ref& r) { live(r, static_cast<int>(ops_.size())); }
  // Content that is read after the last operation written down so far; at the end of all of them if `forever`.
  void leaves(const Ref& r, bool forever);
  // What follows is the backward pass.
  void begin_backward() { backward_ = ops_.size(); }

  // Chooses the places; share = false gives each tensor its own. After it, nothing is added.
  void place(bool share);
  [[nodiscard]] std::size_t arena_bytes() const { return bytes_; }
  [[nodiscard]] std::size_t offset(int id) const { return buffers_[static_cast<std::size_t>(id)].offset; }

  void run_ahead(Run& run) const;
  void run_forward(Run& run) const;
  void run_backward(Run& run) const;

  // What the network itself looks at.
  Ref input, labels, output, dy, dx;
  Ref judged;  // (2, n): the loss of each sample, and 1 where the largest output is the label's

  struct Buffer {
    std::size_t bytes = 0;
    int first = -1, last = -1;  // operations; first < 0: never used
    std::size_t offset = 0;
  };
  [[nodiscard]] const std::vector<Buffer>& buffers() const { return buffers_; }

 private:
  void live(const Ref& r, int at);
  using Ops = std::vector<std::function<void(Run&)>>;
  static void run_all(Run& run, std::span<const std::function<void(Run&)>> ops);

  bool training_;
  std::vector<Buffer> buffers_;
  Ops ahead_, ops_;
  std::size_t backward_ = SIZE_MAX;
  std::size_t bytes_ = 0;
};

// Offsets, multiples of 256, such that buffers that live at the same time do not overlap; returns the bytes needed.
std::size_t place_buffers(std::vector<Program::Buffer>& buffers, bool share);

}  // namespace nervanagpu::layers

// What a generated kernel computes: the trees of its results as one list of operations, each once, in order of use.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "src/expr/node.h"

namespace nervanagpu::fuse {

// Random numbers and indices count their elements: a view of bytes that are not there, whose addresses less this are the
// index, or four times the counter, and the word. It is walked like any other operand, and never read. What of a counter
// has no room there is a number of its own.
inline constexpr std::uint64_t kIndexBase = std::uint64_t{1} << 63;
inline constexpr std::uint64_t kMostCounter = std::uint64_t{1} << 60;
inline bool counts(const Tensor& t) {
  return t.address() >= kIndexBase;
}

struct Value {
  ExprOp op = ExprOp::tensor;
  Dtype dtype = Dtype::float32;
  Dtype from = Dtype::float32;  // of the operands, as the operation computes
  Reduction reduction = Reduction::sum;
  std::int16_t in[3] = {-1, -1, -1};
  std::int16_t leaf = -1;  // index of the tensor or of the number
  bool reduced = false;    // one value for each row: after a reduction, or of an operand that is constant along rows
  std::int32_t extra = 0;  // ddof of a reduction
  friend bool operator==(const Value&, const Value&) = default;
};

// Whether the operation takes many instructions.
bool is_long(ExprOp op);

struct Number {
  std::uint64_t bits = 0;
  Dtype dtype = Dtype::float32;
  friend bool operator==(const Number&, const Number&) = default;
};

// What a store does with the element that is there.
enum class Store : std::uint8_t { set, add, most };  // most: the larger of both

struct Output {
  std::int16_t value = 0;
  Tensor to;
  std::int16_t at = -1;  // the value that is the offset of its element from the first one; -1: in its place
  Store how = Store::set;
};
// An offset that is no place: nothing is stored.
inline constexpr std::int64_t kNowhere = -(std::int64_t{1} << 62);

struct Program {
  std::vector<Value> values;
  std::vector<Tensor> tensors;  // leaves, each view once
  std::vector<Number> numbers;
  std::vector<Output> outputs;
  Shape shape;                 // of the elements that are visited
  std::vector<int> axes;       // of it that reductions go over, ascending; empty: there are none
  std::vector<bool> row_leaf;  // of each tensor: its shape is that of `shape` without `axes`, which do not stand in it

  [[nodiscard]] bool reduces() const {
    for (const Value& v : values) {
      if (v.op == ExprOp::reduce) return true;
    }
    return false;
  }
};

struct Target {
  expr::NodePtr node;
  Tensor to;                   // of the node's shape and dtype
  expr::NodePtr at = nullptr;  // offsets, int64: then `to` has no axes
  Store how = Store::set;
};
Program program_of(const std::vector<Target>& targets, const Shape& shape);
// The same for trees with reductions over `axes` of `shape`. `dropped`: the results' shapes lack these axes. Marks the
// values that are the same along a row.
Program row_program_of(const std::vector<Target>& targets, const Shape& shape, const std::vector<int>& axes,
                       bool dropped);

// Whether it reads every element once: reductions that need no other ones, results of rows and those that need no
// reduction.
bool is_one_pass(const Program& p);

// The part of a kernel's name in the cache that the operations make.
void append_key(std::string& key, const Program& p);

}  // namespace nervanagpu::fuse

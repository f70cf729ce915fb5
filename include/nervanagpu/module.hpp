// The assembler and the loader, for kernels of one's own:
//
//   ng::Cubin cubin = ng::Cubin::assemble(text, {.name = "scale.sass"});   // AssembleError: line, column, what is needed
//   ng::Module module(cubin);                                              // or ng::Module(ng::Cubin::read(bytes))
//   module.launch("scale", {grid}, {128}, {x, y, n, 2.0});
//
// docs/first-kernel.md walks through it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "nervanagpu/error.hpp"
#include "nervanagpu/export.hpp"
#include "nervanagpu/stream.hpp"
#include "nervanagpu/tensor.hpp"
#include "nervanagpu/tensor_map.hpp"
#include "nervanagpu/texture.hpp"

namespace nervanagpu {

// Text that cannot be assembled. what() is the whole diagnostic, with the source line and a caret under the column.
class NG_API AssembleError : public InvalidArgument {
 public:
  AssembleError(const std::string& diagnostic, std::string message, std::string file, std::uint32_t line,
                std::uint32_t column);
  ~AssembleError() override;
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  [[nodiscard]] std::uint32_t line() const noexcept { return line_; }      // from 1; 0: no place
  [[nodiscard]] std::uint32_t column() const noexcept { return column_; }  // in bytes, from 1

 private:
  std::string message_;
  std::string file_;
  std::uint32_t line_;
  std::uint32_t column_;
};

struct KernelParam {
  std::string name;          // empty in cubins that are not ours
  std::string type;          // "f32", "ptr"; in cubins that are not ours "4 bytes", since they do not say
  std::uint32_t offset = 0;  // bytes from the start of the parameter block
  std::uint32_t bytes = 0;
};

struct KernelInfo {
  std::string name;
  std::size_t instructions = 0;
  std::uint32_t registers = 0;                    // of a thread
  std::uint32_t shared = 0;                       // bytes of static shared memory of a CTA
  std::uint32_t dynamic = 0;                      // bytes of dynamic shared memory that its manifest asks for
  std::uint32_t local = 0;                        // bytes of local memory of a thread
  std::uint32_t threads = 0;                      // of a CTA, exactly; 0: not stated
  std::uint32_t max_threads = 0;                  // of a CTA, at most
  std::uint32_t param_bytes = 0;                  // of the parameter block
  std::array<std::uint32_t, 3> cluster{1, 1, 1};  // CTAs that run together; a grid is a multiple of it
  std::vector<KernelParam> params;
  std::map<std::string, std::string> variant;  // ours: the definitions it was expanded with
};

// What the hazard proof found.
struct Hazard {
  std::string kernel;
  std::string text;  // one sentence
  std::string file;  // template; empty: unknown
  std::uint32_t line = 0;
  std::uint32_t producer = 0;  // instruction index
  std::uint32_t consumer = 0;
};

struct AssembleOptions {
  std::string name = "kernel.sass";  // for messages
  std::string arch;                  // "sm_90a"; empty: the device's if the template is for it, else its first
  std::map<std::string, std::string> defines;  // as -D of ngasm: restricts .variants
  std::vector<std::string> include_dirs;
};

// A cubin in memory. Copies share it.
class NG_API Cubin {
 public:
  // Assembles every variant of a template and proves each free of hazards. Throws AssembleError.
  static Cubin assemble(const std::string& text, const AssembleOptions& options = {});
  // Ours, or one that NVIDIA's assembler wrote. Throws InvalidArgument on bytes that are none.
  static Cubin read(std::span<const std::uint8_t> bytes);

  [[nodiscard]] std::span<const std::uint8_t> bytes() const noexcept;
  [[nodiscard]] std::string arch() const;
  [[nodiscard]] const std::vector<KernelInfo>& kernels() const noexcept;
  // Every kernel as text: addresses, control codes, instructions.
  [[nodiscard]] std::string listing() const;
  // As `ngasm as --report`: registers, occupancy, bank conflicts, and what each loop costs by the machine model. Of a
  // cubin that was read: registers, memory, parameters, and whether it is proven.
  [[nodiscard]] std::string report() const;
  // Every hazard; empty: proven. Assembled cubins have none; those of others are judged by our latency table.
  [[nodiscard]] std::vector<Hazard> verify() const;

 private:
  friend class Module;
  struct Data;
  explicit Cubin(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  std::shared_ptr<const Data> data_;
};

// One argument of a launch; the parameter's size and type decide what it becomes. Integers must fit, numbers are not
// rounded to integers, and a pointer takes a tensor or an address.
struct Argument {
  std::variant<std::uint64_t, std::int64_t, double, Tensor, std::vector<std::byte>> value;

  Argument(const Tensor& t) : value(t) {}                              // NOLINT: implicit, so that lists read as calls
  Argument(double v) : value(v) {}                                     // NOLINT
  Argument(float v) : value(static_cast<double>(v)) {}                 // NOLINT
  Argument(int v) : value(static_cast<std::int64_t>(v)) {}             // NOLINT
  Argument(long v) : value(static_cast<std::int64_t>(v)) {}            // NOLINT
  Argument(long long v) : value(static_cast<std::int64_t>(v)) {}       // NOLINT
  Argument(unsigned v) : value(static_cast<std::uint64_t>(v)) {}       // NOLINT
  Argument(unsigned long v) : value(static_cast<std::uint64_t>(v)) {}  // NOLINT
  Argument(unsigned long long v) : value(static_cast<std::uint64_t>(v)) {}                     // NOLINT
  Argument(const EncodedTensorMap& m) : value(std::vector(m.bytes.begin(), m.bytes.end())) {}  // NOLINT
  Argument(const Texture& t) : value(t.handle()) {}                                            // NOLINT
  Argument(const Surface& s) : value(s.handle()) {}                                            // NOLINT
  Argument(std::vector<std::byte> v) : value(std::move(v)) {}  // NOLINT: raw bytes, for structures by value
};

// A cubin on the device. Copies share it; on a GPU it stays loaded until the process ends, because work and graphs that
// use it may outlive the last copy.
class NG_API Module {
 public:
  explicit Module(const Cubin& cubin);

  [[nodiscard]] const Cubin& cubin() const noexcept { return cubin_; }
  // Throws InvalidArgument for a name that there is not, an argument that does not fit, a block or grid that cannot be.
  // An empty block: the manifest's. `shared`: dynamic shared memory in bytes; not given: what the manifest asks for.
  void launch(const std::string& kernel, const std::vector<std::uint32_t>& grid,
              const std::vector<std::uint32_t>& block, const std::vector<Argument>& args,
              std::optional<std::uint32_t> shared = {}, const Stream& stream = {}) const;
  struct Variable {
    std::uint64_t address = 0;
    std::size_t bytes = 0;
  };
  // Where copies find a __device__ or __constant__ variable, by its symbol; it stays there as long as the module. Throws
  // InvalidArgument for a name that there is not.
  [[nodiscard]] Variable variable(const std::string& name) const;

 private:
  struct Loaded;
  Cubin cubin_;
  std::shared_ptr<Loaded> loaded_;
};

}  // namespace nervanagpu

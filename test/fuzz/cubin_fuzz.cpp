// Bytes as a cubin: read, then everything that takes an image: verify, the printer, the emulator's loader, and the writer,
// whose output the reader must take. The input has no byte for the architecture: the file says it.
#include <algorithm>
#include <cstring>
#include <memory>

#include "sass/cubin.h"
#include "sass/emulate/emulate.h"
#include "sass/isa/codec/codec.h"
#include "sass/verify/verify.h"
#include "test/fuzz/fuzz.h"

using namespace nervanagpu::sass;
using namespace nervanagpu::sass::fuzz;

namespace {

std::size_t instructions(const CubinImage& image) {
  std::size_t n = 0;
  for (const KernelImage& k : image.kernels) n += k.code.size();
  return n;
}

void load_all(const CubinImage& image) {
  if (image.data.bytes > std::size_t{1} << 24) return;
  emulate::Memory memory(std::size_t{1} << 26);
  const auto module = emulate::Module::load(image, memory);
  if (!module.ok()) return;
  for (const KernelImage& k : image.kernels) {
    const auto kernel = (*module)->kernel(k);
    check(kernel.ok() || !kernel.error().message.empty(), "an error without a message", k.name);
  }
  for (const Variable& v : image.data.variables) {
    for (const std::byte& b : (*module)->variable(v.name)) {
      volatile std::byte touch = b;
      static_cast<void>(touch);
    }
  }
}

}  // namespace

// Numbers of headers and tables stand at multiples of their size: those get the values that break programs.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  Random random(seed + 1);
  if (size < 64 || below(random, 2) == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::size_t width = std::size_t{1} << below(random, 4);
  const std::size_t at = below(random, size / width) * width;
  std::uint64_t value = 0;
  std::memcpy(&value, data + at, width);
  const std::array<std::uint64_t, 12> choices = {0,
                                                 1,
                                                 ~std::uint64_t{0},
                                                 value + 1,
                                                 value - 1,
                                                 value ^ (std::uint64_t{1} << below(random, 64)),
                                                 std::uint64_t{1} << below(random, 64),
                                                 size,
                                                 size - at,
                                                 below(random, size),
                                                 value * 2,
                                                 value - 0x40};
  value = choices[below(random, choices.size())];
  std::memcpy(data + at, &value, width);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto image = read_cubin(data, size);
  if (!image.ok()) {
    check(!image.error().message.empty(), "an error without a message");
    return 0;
  }
  check(instructions(*image) * 8 <= size, "more instructions than bytes");
  if (instructions(*image) > 2000) return 0;
  for (const KernelImage& k : image->kernels) {
    for (std::size_t i = 0; i < k.code.size(); ++i) {
      const auto inst = decode(image->arch, k.code[i], address_of(info(image->arch).encoding, i));
      if (inst.ok()) check(!print(*inst).empty(), "an instruction without text");
    }
    for (const Hazard& h : verify(image->arch, k, &image->data)) check(!h.text.empty(), "a hazard without a sentence");
  }
  load_all(*image);
  const auto bytes = write_cubin(*image);
  if (!bytes.ok()) return 0;
  const auto again = read_cubin(bytes->data(), bytes->size());
  check(again.ok(), "what was written cannot be read", again.ok() ? "" : again.error().text());
  check(again->kernels.size() == image->kernels.size(), "kernels are lost");
  for (std::size_t i = 0; i < image->kernels.size(); ++i) {
    check(again->kernels[i].code == image->kernels[i].code, "other code comes back", image->kernels[i].name);
  }
  return 0;
}

// ng_pack IN OUT: compresses a cubin for the library (src/module/unpack.h), as one zstd frame that says its size. It runs while
// the library is built.
#include <zstd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

namespace {

int fail(const char* what, const char* which) {
  std::fprintf(stderr, "ng_pack: %s %s\n", which, what);
  return 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return fail("IN OUT", "usage: ng_pack");
  std::ifstream in(arguments[1], std::ios::binary);
  if (!in) return fail("cannot be read", arguments[1]);
  const std::vector<char> image((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());

  // Level 19 is the last one without the ultra levels' memory: 115 MB of cubins become 2.3 MB in a few seconds.
  constexpr int kLevel = 19;
  std::vector<char> packed(ZSTD_compressBound(image.size()));
  const std::size_t bytes = ZSTD_compress(packed.data(), packed.size(), image.data(), image.size(), kLevel);
  if (ZSTD_isError(bytes) != 0) return fail(ZSTD_getErrorName(bytes), arguments[1]);

  std::ofstream out(arguments[2], std::ios::binary);
  out.write(packed.data(), static_cast<std::streamsize>(bytes));
  out.close();
  return out ? 0 : fail("cannot be written", arguments[2]);
}

// Hashes, checksums and random numbers; a message a thread. The host runs the same source.
#include "host.h"

__constant__ static const unsigned sha_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ inline unsigned rotate(unsigned v, int n) {
  return v >> n | v << (32 - n);
}

// SHA-256 of `length` bytes (at most 119): two blocks, padded in local memory.
extern "C" __global__ void sha256(const unsigned char* text, const int* length, unsigned* digest, int pitch) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned char block[128];
  const int n = length[t];
  for (int i = 0; i < 128; ++i) block[i] = i < n ? text[t * pitch + i] : i == n ? 0x80 : 0;
  const int blocks = n < 56 ? 1 : 2;
  for (int i = 0; i < 4; ++i) block[blocks * 64 - 1 - i] = static_cast<unsigned char>(n * 8 >> (8 * i));
  unsigned h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for (int b = 0; b < blocks; ++b) {
    unsigned w[64];
    for (int i = 0; i < 16; ++i) {
      const unsigned char* p = block + b * 64 + i * 4;
      w[i] = static_cast<unsigned>(p[0]) << 24 | static_cast<unsigned>(p[1]) << 16 | static_cast<unsigned>(p[2]) << 8 |
             p[3];
    }
    for (int i = 16; i < 64; ++i) {
      const unsigned s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
      const unsigned s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    unsigned v[8];
    for (int i = 0; i < 8; ++i) v[i] = h[i];
    for (int i = 0; i < 64; ++i) {
      const unsigned s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
      const unsigned t1 = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + sha_k[i] + w[i];
      const unsigned s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
      const unsigned t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
      for (int j = 7; j > 0; --j) v[j] = v[j - 1];
      v[4] += t1;
      v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; ++i) h[i] += v[i];
  }
  for (int i = 0; i < 8; ++i) digest[t * 8 + i] = h[i];
}

// Murmur3 and a 64-bit mix over the words of a message, and its CRC-32 by a table made on the way.
__device__ static unsigned crc_table[256];
extern "C" __global__ void make_crc_table() {
  unsigned v = threadIdx.x;
  for (int i = 0; i < 8; ++i) v = (v & 1) != 0 ? v >> 1 ^ 0xedb88320u : v >> 1;
  crc_table[threadIdx.x] = v;
}
extern "C" __global__ void murmur(const unsigned* text, int words, unsigned* out) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned h = t * 0x9e3779b9u, crc = ~0u;
  unsigned long long g = t;
  for (int i = 0; i < words; ++i) {
    const unsigned word = text[static_cast<int>(t) * words + i];
    unsigned k = word * 0xcc9e2d51u;
    k = rotate(k, 17) * 0x1b873593u;
    h = rotate(h ^ k, 19) * 5 + 0xe6546b64u;
    g = (g ^ word) * 0x9fb21c651e98df25ull;
    g ^= g >> 35;
    for (int b = 0; b < 4; ++b) crc = crc >> 8 ^ crc_table[(crc ^ word >> (8 * b)) & 255];
  }
  h ^= static_cast<unsigned>(words) * 4;
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  out[t * 4] = h ^ h >> 16;
  out[t * 4 + 1] = static_cast<unsigned>(g);
  out[t * 4 + 2] = static_cast<unsigned>(g >> 32);
  out[t * 4 + 3] = ~crc;
}

// Random numbers: xorshift, PCG, Philox, an LFSR over 64 bits, and an integer from [0, n) without bias.
extern "C" __global__ void random_numbers(unsigned* out, unsigned seed, int rounds) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = seed ^ (t + 1) * 747796405u, bounded = 0;
  unsigned long long pcg = seed + t, lfsr = ~(static_cast<unsigned long long>(t) << 32);
  unsigned c[4] = {t, 0, seed, 7}, key[2] = {seed, ~seed};
  for (int i = 0; i < rounds; ++i) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    pcg = pcg * 6364136223846793005ull + 1442695040888963407ull;
    lfsr = (lfsr >> 1) ^ ((lfsr & 1) != 0 ? 0xd800000000000000ull : 0);
    const unsigned h0 = __umulhi(0xd2511f53u, c[0]), l0 = 0xd2511f53u * c[0];
    const unsigned h1 = __umulhi(0xcd9e8d57u, c[2]), l1 = 0xcd9e8d57u * c[2];
    c[0] = h1 ^ c[1] ^ key[0];
    c[1] = l1;
    c[2] = h0 ^ c[3] ^ key[1];
    c[3] = l0;
    key[0] += 0x9e3779b9u;
    key[1] += 0xbb67ae85u;
    const unsigned n = t + 3;
    unsigned r = x;
    while (r < (0u - n) % n) r = r * 1664525u + 1013904223u;
    bounded += __umulhi(r, n) + r % n + r / n;
  }
  const unsigned shifted = static_cast<unsigned>((pcg >> 18 ^ pcg) >> 27);
  out[t * 6] = x;
  out[t * 6 + 1] = rotate(shifted, static_cast<int>(pcg >> 59) & 31 ? static_cast<int>(pcg >> 59) : 32 - 0 - 31);
  out[t * 6 + 2] = c[0] ^ c[1] ^ c[2] ^ c[3];
  out[t * 6 + 3] = static_cast<unsigned>(lfsr >> 32);
  out[t * 6 + 4] = static_cast<unsigned>(lfsr);
  out[t * 6 + 5] = bounded;
}

// Texts: search, edit distance, base 64, UTF-8 by a state machine. A text a thread; the host runs the same source.
#include "host.h"

// Knuth, Morris and Pratt: occurrences of the pattern, with the failure table in local memory.
extern "C" __global__ void search(const char* text, int length, const char* pattern, int m, int* counts) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  int fail[32];
  fail[0] = 0;
  for (int i = 1, k = 0; i < m; ++i) {
    while (k > 0 && pattern[i] != pattern[k]) k = fail[k - 1];
    if (pattern[i] == pattern[k]) ++k;
    fail[i] = k;
  }
  const char* mine = text + t * static_cast<unsigned>(length);
  int found = 0, first = -1;
  for (int i = 0, k = 0; i < length; ++i) {
    while (k > 0 && mine[i] != pattern[k]) k = fail[k - 1];
    if (mine[i] == pattern[k]) ++k;
    if (k == m) {
      if (first < 0) first = i - m + 1;
      ++found;
      k = fail[k - 1];
    }
  }
  counts[2 * t] = found;
  counts[2 * t + 1] = first;
}

// Edit distance of two words, one row of the table in local memory as bytes.
extern "C" __global__ void edit_distance(const char* words, int pitch, const unsigned char* lengths, int* out) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const char* a = words + t * static_cast<unsigned>(pitch);
  const char* b = words + (t + 1) * static_cast<unsigned>(pitch);
  const int n = lengths[t], m = lengths[t + 1];
  unsigned char row[40];
  for (int j = 0; j <= m; ++j) row[j] = static_cast<unsigned char>(j);
  for (int i = 1; i <= n; ++i) {
    unsigned char corner = row[0];
    row[0] = static_cast<unsigned char>(i);
    for (int j = 1; j <= m; ++j) {
      const int replace = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
      const int insert = row[j] + 1, remove = row[j - 1] + 1;
      corner = row[j];
      int best = replace < insert ? replace : insert;
      best = best < remove ? best : remove;
      row[j] = static_cast<unsigned char>(best);
    }
  }
  out[t] = row[m];
}

__constant__ static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
extern "C" __global__ void base64(const unsigned char* in, int n, char* out) {
  const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (t * 3 >= n) return;
  unsigned v = 0;
  for (int i = 0; i < 3; ++i) v = v << 8 | (t * 3 + i < n ? in[t * 3 + i] : 0u);
  for (int i = 0; i < 4; ++i) out[t * 4 + i] = t * 3 + i <= n ? alphabet[v >> (18 - 6 * i) & 63] : '=';
}

// A small calculator: bytes are operations of a stack machine. The switch becomes a table of jumps.
extern "C" __global__ void interpret(const unsigned char* code, int length, int* out) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned char* p = code + t * static_cast<unsigned>(length);
  unsigned stack[16];
  for (int i = 0; i < 16; ++i) stack[i] = t + static_cast<unsigned>(i);
  int top = 3, steps = 0;
  for (int pc = 0; pc < length && steps < 200; ++pc, ++steps) {
    unsigned& a = stack[top & 15];
    unsigned& b = stack[(top - 1) & 15];
    switch (p[pc] & 15) {
      case 0:
        b += a;
        --top;
        break;
      case 1:
        b -= a;
        --top;
        break;
      case 2:
        b *= a | 1;
        --top;
        break;
      case 3:
        ++top;
        stack[top & 15] = p[pc] * 2654435761u;
        break;
      case 4: a ^= a << 7; break;
      case 5: a = ~a; break;
      case 6: {
        const unsigned s = a;
        a = b;
        b = s;
        break;
      }
      case 7:
        if ((a & 3) == 0) pc = (pc + 5) % length;
        break;
      case 8: a = a >> 5 | a << 27; break;
      case 9:
        b = a > b ? a - b : b - a;
        --top;
        break;
      case 10:
        a += static_cast<unsigned>(top);
        ++top;
        break;
      case 11: a = static_cast<unsigned>(__popc(a)) * 0x01010101u; break;
      case 12:
        b |= a;
        --top;
        break;
      case 13: a = a % 97 + b / ((a & 255) + 1); break;
      case 14: stack[(top - 3) & 15] += a; break;
      default:
        a = a * 1103515245u + 12345u;
        pc += static_cast<int>(a >> 30);
        break;
    }
  }
  unsigned sum = 0;
  for (int i = 0; i < 16; ++i) sum = sum * 31 + stack[i];
  out[2 * t] = static_cast<int>(sum);
  out[2 * t + 1] = steps;
}

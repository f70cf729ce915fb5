// What parts of libstdc++.a ask of a glibc that is newer than a wheel's (tools/manylinux.py).
#include <stdlib.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN char __libc_single_threaded = 0;  // glibc 2.32: no promise that there is one thread

HIDDEN unsigned arc4random(void) {  // glibc 2.36: std::random_device
  unsigned value;
  if (getentropy(&value, sizeof value) != 0) abort();
  return value;
}

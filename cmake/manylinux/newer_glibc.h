// Goes before every source of a wheel (tools/manylinux.py): the headers of libstdc++ were configured on a glibc that has
// more than the one that the wheel is for.
#pragma once
#ifdef __cplusplus
#include <bits/c++config.h>
#undef _GLIBCXX_USE_PTHREAD_COND_CLOCKWAIT    // glibc 2.30
#undef _GLIBCXX_USE_PTHREAD_MUTEX_CLOCKLOCK   // glibc 2.30
#undef _GLIBCXX_USE_PTHREAD_RWLOCK_CLOCKLOCK  // glibc 2.30
#endif

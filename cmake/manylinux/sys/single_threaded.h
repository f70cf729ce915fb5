// glibc has this since 2.32, and libstdc++ asks for it. Here the variable is ours (newer_glibc.c).
#pragma once
#ifdef __cplusplus
extern "C"
#else
extern
#endif
    char __libc_single_threaded;

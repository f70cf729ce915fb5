// The functions of cuBLAS, cuSOLVER and cuFFT that are called, with the types of NVIDIA's documentation. Each hands its
// name and arguments, widened to 64 bits, to a function that the test sets (cuda_stand_in.py).
#include <stddef.h>
#include <stdint.h>

typedef int (*Listener)(const char* name, const int64_t* args, int count);
static Listener listener;
void stand_in_listen(Listener to) { listener = to; }

#define A(x) ((int64_t)(x))
#define TELL(...) \
  int64_t args[] = {__VA_ARGS__}; \
  return listener ? listener(__func__, args, (int)(sizeof args / sizeof *args)) : 1;

typedef void* H;  // a handle
typedef int E;    // an enum

int cublasCreate_v2(H* h) { TELL(A(h)) }
int cublasSetStream_v2(H h, H stream) { TELL(A(h), A(stream)) }
int cusolverDnCreate(H* h) { TELL(A(h)) }
int cusolverDnSetStream(H h, H stream) { TELL(A(h), A(stream)) }
int cusolverDnCreateParams(H* p) { TELL(A(p)) }
int cusolverDnCreateGesvdjInfo(H* p) { TELL(A(p)) }

#define BATCHED(T) \
  int cublas##T##getrfBatched(H h, int n, void* const a[], int lda, int* pivots, int* info, int batch) { \
    TELL(A(h), n, A(a), lda, A(pivots), A(info), batch) } \
  int cublas##T##getrsBatched(H h, E trans, int n, int nrhs, const void* const a[], int lda, const int* pivots, \
                              void* const b[], int ldb, int* info, int batch) { \
    TELL(A(h), trans, n, nrhs, A(a), lda, A(pivots), A(b), ldb, A(info), batch) } \
  int cusolverDn##T##potrfBatched(H h, E uplo, int n, void* a[], int lda, int* info, int batch) { \
    TELL(A(h), uplo, n, A(a), lda, A(info), batch) } \
  int cusolverDn##T##gesvdjBatched_bufferSize(H h, E job, int m, int n, const void* a, int lda, const void* s, \
                                              const void* u, int ldu, const void* v, int ldv, int* size, H params, \
                                              int batch) { \
    TELL(A(h), job, m, n, A(a), lda, A(s), A(u), ldu, A(v), ldv, A(size), A(params), batch) } \
  int cusolverDn##T##gesvdjBatched(H h, E job, int m, int n, void* a, int lda, void* s, void* u, int ldu, void* v, \
                                   int ldv, void* work, int size, int* info, H params, int batch) { \
    TELL(A(h), job, m, n, A(a), lda, A(s), A(u), ldu, A(v), ldv, A(work), size, A(info), A(params), batch) }
BATCHED(S)
BATCHED(D)
BATCHED(C)
BATCHED(Z)

#define GQR(NAME) \
  int cusolverDn##NAME##_bufferSize(H h, int m, int n, int k, const void* a, int lda, const void* tau, int* size) { \
    TELL(A(h), m, n, k, A(a), lda, A(tau), A(size)) } \
  int cusolverDn##NAME(H h, int m, int n, int k, void* a, int lda, const void* tau, void* work, int size, int* info) { \
    TELL(A(h), m, n, k, A(a), lda, A(tau), A(work), size, A(info)) }
GQR(Sorgqr)
GQR(Dorgqr)
GQR(Cungqr)
GQR(Zungqr)

int cusolverDnXgetrf_bufferSize(H h, H p, int64_t m, int64_t n, E ta, const void* a, int64_t lda, E compute,
                                size_t* device, size_t* host) {
  TELL(A(h), A(p), m, n, ta, A(a), lda, compute, A(device), A(host)) }
int cusolverDnXgetrf(H h, H p, int64_t m, int64_t n, E ta, void* a, int64_t lda, int64_t* pivots, E compute, void* d,
                     size_t device, void* o, size_t host, int* info) {
  TELL(A(h), A(p), m, n, ta, A(a), lda, A(pivots), compute, A(d), A(device), A(o), A(host), A(info)) }
int cusolverDnXgetrs(H h, H p, E trans, int64_t n, int64_t nrhs, E ta, const void* a, int64_t lda,
                     const int64_t* pivots, E tb, void* b, int64_t ldb, int* info) {
  TELL(A(h), A(p), trans, n, nrhs, ta, A(a), lda, A(pivots), tb, A(b), ldb, A(info)) }
int cusolverDnXpotrf_bufferSize(H h, H p, E uplo, int64_t n, E ta, const void* a, int64_t lda, E compute,
                                size_t* device, size_t* host) {
  TELL(A(h), A(p), uplo, n, ta, A(a), lda, compute, A(device), A(host)) }
int cusolverDnXpotrf(H h, H p, E uplo, int64_t n, E ta, void* a, int64_t lda, E compute, void* d, size_t device,
                     void* o, size_t host, int* info) {
  TELL(A(h), A(p), uplo, n, ta, A(a), lda, compute, A(d), A(device), A(o), A(host), A(info)) }
int cusolverDnXpotrs(H h, H p, E uplo, int64_t n, int64_t nrhs, E ta, const void* a, int64_t lda, E tb, void* b,
                     int64_t ldb, int* info) {
  TELL(A(h), A(p), uplo, n, nrhs, ta, A(a), lda, tb, A(b), ldb, A(info)) }
int cusolverDnXgeqrf_bufferSize(H h, H p, int64_t m, int64_t n, E ta, const void* a, int64_t lda, E tt, const void* tau,
                                E compute, size_t* device, size_t* host) {
  TELL(A(h), A(p), m, n, ta, A(a), lda, tt, A(tau), compute, A(device), A(host)) }
int cusolverDnXgeqrf(H h, H p, int64_t m, int64_t n, E ta, void* a, int64_t lda, E tt, void* tau, E compute, void* d,
                     size_t device, void* o, size_t host, int* info) {
  TELL(A(h), A(p), m, n, ta, A(a), lda, tt, A(tau), compute, A(d), A(device), A(o), A(host), A(info)) }
int cusolverDnXsyevd_bufferSize(H h, H p, E job, E uplo, int64_t n, E ta, const void* a, int64_t lda, E tw,
                                const void* w, E compute, size_t* device, size_t* host) {
  TELL(A(h), A(p), job, uplo, n, ta, A(a), lda, tw, A(w), compute, A(device), A(host)) }
int cusolverDnXsyevd(H h, H p, E job, E uplo, int64_t n, E ta, void* a, int64_t lda, E tw, void* w, E compute, void* d,
                     size_t device, void* o, size_t host, int* info) {
  TELL(A(h), A(p), job, uplo, n, ta, A(a), lda, tw, A(w), compute, A(d), A(device), A(o), A(host), A(info)) }
#ifndef OLD  // what versions before CUDA 12.6 do not have
int cusolverDnXsyevBatched_bufferSize(H h, H p, E job, E uplo, int64_t n, E ta, const void* a, int64_t lda, E tw,
                                      const void* w, E compute, size_t* device, size_t* host, int64_t batch) {
  TELL(A(h), A(p), job, uplo, n, ta, A(a), lda, tw, A(w), compute, A(device), A(host), batch) }
int cusolverDnXsyevBatched(H h, H p, E job, E uplo, int64_t n, E ta, void* a, int64_t lda, E tw, void* w, E compute,
                           void* d, size_t device, void* o, size_t host, int* info, int64_t batch) {
  TELL(A(h), A(p), job, uplo, n, ta, A(a), lda, tw, A(w), compute, A(d), A(device), A(o), A(host), A(info), batch) }
int cusolverDnXgeev_bufferSize(H h, H p, E left, E right, int64_t n, E ta, const void* a, int64_t lda, E tw,
                               const void* w, E tl, const void* vl, int64_t ldvl, E tr, const void* vr, int64_t ldvr,
                               E compute, size_t* device, size_t* host) {
  TELL(A(h), A(p), left, right, n, ta, A(a), lda, tw, A(w), tl, A(vl), ldvl, tr, A(vr), ldvr, compute, A(device),
       A(host)) }
int cusolverDnXgeev(H h, H p, E left, E right, int64_t n, E ta, void* a, int64_t lda, E tw, void* w, E tl, void* vl,
                    int64_t ldvl, E tr, void* vr, int64_t ldvr, E compute, void* d, size_t device, void* o, size_t host,
                    int* info) {
  TELL(A(h), A(p), left, right, n, ta, A(a), lda, tw, A(w), tl, A(vl), ldvl, tr, A(vr), ldvr, compute, A(d), A(device),
       A(o), A(host), A(info)) }
#endif
int cusolverDnXgesvd_bufferSize(H h, H p, signed char ju, signed char jv, int64_t m, int64_t n, E ta, const void* a,
                                int64_t lda, E ts, const void* s, E tu, const void* u, int64_t ldu, E tv,
                                const void* vt, int64_t ldvt, E compute, size_t* device, size_t* host) {
  TELL(A(h), A(p), ju, jv, m, n, ta, A(a), lda, ts, A(s), tu, A(u), ldu, tv, A(vt), ldvt, compute, A(device), A(host)) }
int cusolverDnXgesvd(H h, H p, signed char ju, signed char jv, int64_t m, int64_t n, E ta, void* a, int64_t lda, E ts,
                     void* s, E tu, void* u, int64_t ldu, E tv, void* vt, int64_t ldvt, E compute, void* d,
                     size_t device, void* o, size_t host, int* info) {
  TELL(A(h), A(p), ju, jv, m, n, ta, A(a), lda, ts, A(s), tu, A(u), ldu, tv, A(vt), ldvt, compute, A(d), A(device),
       A(o), A(host), A(info)) }

int cufftCreate(int* plan) { TELL(A(plan)) }
int cufftSetAutoAllocation(int plan, int on) { TELL(plan, on) }
int cufftMakePlanMany64(int plan, int rank, long long* n, long long* inembed, long long istride, long long idist,
                        long long* onembed, long long ostride, long long odist, E type, long long batch, size_t* work) {
  TELL(plan, rank, A(n), A(inembed), istride, idist, A(onembed), ostride, odist, type, batch, A(work)) }
int cufftSetWorkArea(int plan, void* work) { TELL(plan, A(work)) }
int cufftSetStream(int plan, H stream) { TELL(plan, A(stream)) }
int cufftDestroy(int plan) { TELL(plan) }
int cufftExecC2C(int plan, void* in, void* out, int direction) { TELL(plan, A(in), A(out), direction) }
int cufftExecZ2Z(int plan, void* in, void* out, int direction) { TELL(plan, A(in), A(out), direction) }
int cufftExecR2C(int plan, void* in, void* out) { TELL(plan, A(in), A(out)) }
int cufftExecD2Z(int plan, void* in, void* out) { TELL(plan, A(in), A(out)) }
int cufftExecC2R(int plan, void* in, void* out) { TELL(plan, A(in), A(out)) }
int cufftExecZ2D(int plan, void* in, void* out) { TELL(plan, A(in), A(out)) }

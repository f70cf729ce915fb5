/* The C interface of libnervanagpu, for C99 and for every language that calls C. It is as nervanagpu.hpp, which says more
 * about each operation: shapes in conv.hpp and pool.hpp, rounding in rounding.hpp.
 *
 *   - Every function that can fail returns an ng_status; ng_last_error() then says which argument was wrong, what came and
 *     what is needed. A refused call has written nothing. No C++ exception leaves the library.
 *   - Device memory is an address in a uint64_t: ng_malloc's, or a CUdeviceptr of the caller's in the primary context.
 *   - A stream is a uint64_t: 0 for the default one, ng_stream_create's, or a CUstream of the caller's. It must be there.
 *   - ng_gemm*, ng_matmul, ng_conv_* and ng_pool_* queue kernels and return: nothing is allocated, copied or awaited (but for
 *     ng_conv_max_pool_fprop's memory, which is the library's), and they may be captured in a CUDA graph. What a kernel does wrong later is reported by the next call that waits.
 *   - Structures begin with their own size, so that a program keeps working with a newer library. Start from their _INIT
 *     value:  ng_conv_problem p = NG_CONV_PROBLEM_INIT;
 *   - Functions may be called from any thread.
 */
/* NOLINTBEGIN: the names and headers are those of C. */
#ifndef NERVANAGPU_H
#define NERVANAGPU_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define NG_C_API __attribute__((visibility("default")))
#else
#define NG_C_API
#endif

/* Enumerations of arguments: a C program may pass any int, and is told so; C++ has to know. */
#ifdef __cplusplus
#define NG_OF_INT : int
#else
#define NG_OF_INT
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ng_status NG_OF_INT {
  NG_OK = 0,
  NG_INVALID_ARGUMENT = 1, /* a value, shape, size or address that cannot be */
  NG_TYPE_ERROR = 2,       /* an element type that does not fit */
  NG_OUT_OF_MEMORY = 3,
  NG_DEVICE_LOST = 4, /* the GPU context is gone; every later call says so again */
  NG_CHECK_ERROR = 5, /* what the emulator found in a kernel */
  NG_UNSUPPORTED = 6, /* a structure with fields this library does not know */
  NG_ERROR = 7        /* anything else: no GPU, a failed driver call */
} ng_status;

/* Why the last failed call of this thread failed; "" if none did. Stays until the next failure on this thread. */
NG_C_API const char* ng_last_error(void);
/* "NG_OK", "NG_INVALID_ARGUMENT" ...; never null. */
NG_C_API const char* ng_status_name(ng_status status);
/* Of this header. */
#define NG_VERSION_MAJOR 0
#define NG_VERSION_MINOR 1
#define NG_VERSION_PATCH 0
/* "0.1.0": of the library that is loaded. */
NG_C_API const char* ng_version(void);

/* --- device ------------------------------------------------------------------------------------------------------- */

enum ng_device_kind { NG_CUDA = 0, NG_EMULATOR = 1 };

typedef struct ng_device {
  size_t size;             /* set by the caller, by NG_DEVICE_INIT; the rest is written */
  uint64_t memory;         /* bytes */
  int32_t kind;            /* ng_device_kind */
  int32_t multiprocessors; /* SMs; on the emulator those of the GPU it stands for */
  int32_t driver;          /* CUDA version the driver supports, 12040 for 12.4; 0 on the emulator */
  int32_t checked;         /* 1: the emulator's checked mode */
  char arch[16];           /* "sm_90a": what its kernels were assembled for */
  char name[128];          /* "NVIDIA H200", "emulator" */
} ng_device;
#define NG_DEVICE_INIT \
  { sizeof(ng_device), 0, 0, 0, 0, 0, "", "" }

/* The kind of the devices is chosen at the first call that needs one, by NERVANAGPU_DEVICE (cuda, emulator, or unset: the
 * GPU if it can be used). Each thread has a current device, 0 at first: memory and streams come from it, kernels run on it,
 * and every address and stream of a call must be its own. */
NG_C_API ng_status ng_device_count(int32_t* count);
NG_C_API ng_status ng_device_set(int32_t ordinal);
NG_C_API ng_status ng_device_get(int32_t* ordinal);
/* Of the current device. */
NG_C_API ng_status ng_device_info(ng_device* info);

/* --- memory and streams ------------------------------------------------------------------------------------------- */

/* `bytes` of device memory, 1 or more, aligned to 256; the contents are undefined. *address is 0 after a failure. */
NG_C_API ng_status ng_malloc(uint64_t* address, size_t bytes);
/* Waits for all work, then frees what ng_malloc gave. 0 is ignored. */
NG_C_API ng_status ng_free(uint64_t address);
/* Copies between host and device. They wait for the work of the default stream before them, and until they are done. */
NG_C_API ng_status ng_upload(uint64_t to, const void* from, size_t bytes);
NG_C_API ng_status ng_download(void* to, uint64_t from, size_t bytes);
/* Queued in `stream`: between device addresses, which may overlap; and `count` elements of `width` bytes (1, 2 or 4), each
 * the low bits of `value`. Nothing is awaited. */
NG_C_API ng_status ng_copy(uint64_t to, uint64_t from, size_t bytes, uint64_t stream);
NG_C_API ng_status ng_fill(uint64_t to, uint32_t value, size_t width, size_t count, uint64_t stream);
/* `bytes` from memory of one device to memory of the current one, after the work of both default streams. */
NG_C_API ng_status ng_copy_from_device(uint64_t to, int32_t device, uint64_t from, size_t bytes);
/* Waits for all work of all streams of the current device. */
NG_C_API ng_status ng_synchronize(void);

/* A new stream; the default one and it wait for each other. *stream is 0 after a failure. */
NG_C_API ng_status ng_stream_create(uint64_t* stream);
/* Of ng_stream_create's only; work that is queued is still done. 0 is ignored. */
NG_C_API ng_status ng_stream_destroy(uint64_t stream);
NG_C_API ng_status ng_stream_synchronize(uint64_t stream);

/* A mark in a stream. */
typedef struct ng_event ng_event;
NG_C_API ng_status ng_event_create(ng_event** event); /* *event is null after a failure */
NG_C_API ng_status ng_event_record(ng_event* event, uint64_t stream);
NG_C_API ng_status ng_event_synchronize(const ng_event* event); /* waits until the mark is passed */
/* Later work of `stream` waits for the mark. */
NG_C_API ng_status ng_stream_wait(uint64_t stream, const ng_event* event);
/* Milliseconds from `start` to `end`; waits for both. */
NG_C_API ng_status ng_event_elapsed(const ng_event* start, const ng_event* end, double* ms);
NG_C_API void ng_event_destroy(ng_event* event); /* null is ignored */

/* --- what the operations have in common --------------------------------------------------------------------------- */

enum ng_dtype {
  NG_FLOAT32 = 0,
  NG_FLOAT16 = 1,
  NG_INT8 = 2,
  NG_UINT8 = 3,
  NG_INT32 = 4,
  NG_BFLOAT16 = 5,
  /* Of expressions alone: */
  NG_FLOAT64 = 6,
  NG_INT64 = 7,
  NG_BOOL = 8,
  NG_INT16 = 9,
  NG_UINT16 = 10,
  NG_UINT32 = 11,
  NG_UINT64 = 12,
  NG_COMPLEX64 = 13,
  NG_COMPLEX128 = 14
};

/* How a float result is rounded to its type. Element i takes word i % 4 of Philox4x32-10(seed, offset + i / 4). */
typedef struct ng_rounding {
  int32_t stochastic; /* 0: to nearest, ties to even; 1: up or down at random */
  int32_t bits;       /* mantissa bits to keep: 1..10 for float16, 1..7 for bfloat16, 1..15 for float32; 0: the most */
  uint64_t seed;
  uint64_t offset; /* a call takes ceil(elements / 4) counters */
} ng_rounding;
#define NG_ROUNDING_INIT \
  { 0, 0, 0, 0 }

/* --- C[m,n] = act(alpha * A[m,k] B[k,n] + beta * C + bias) -------------------------------------------------------- */

/* Functions of float32 numbers; activations.inc says which, and tools/activations.py writes these. */
enum ng_gemm_activation {
  NG_NO_ACTIVATION = 0,
  NG_RELU = 1,
  NG_TANH = 2,
  NG_SIGMOID = 3,
  NG_GELU = 4,
  NG_GELU_TANH = 5,
  NG_SILU = 6,
  NG_CLIP = 7,
  NG_DRELU = 8
};

/* How float32 operands are multiplied; precision.hpp says more. */
enum ng_precision {
  NG_STRICT = 0, /* by fused multiply-adds: the same bits on every device */
  NG_TENSOR = 1  /* by the tensor cores of sm_90a, from pieces of 16 bits; elsewhere as NG_STRICT */
};

/* Row-major; leading dimensions and strides in elements. C overlaps neither A, B nor bias. */
typedef struct ng_gemm_problem {
  size_t size;
  uint64_t a, b, c, bias; /* device addresses; bias: n elements (bias_per_row: m), or 0 */
  int64_t m, n, k;
  int64_t lda, ldb, ldc;
  float alpha, beta;    /* beta 0: C is not read, whatever it holds */
  int32_t a_transposed; /* A is stored as [k, m] with rows of lda */
  int32_t b_transposed; /* B is stored as [n, k] with rows of ldb */
  int32_t bias_per_row;
  int32_t relu; /* 0: none; 1: act = max(x, 0); 2: of alpha * A B alone, before beta and bias. NaN stays NaN */
  int32_t a_type,
      b_type; /* ng_dtype: float32, float16, bfloat16 (alike; C too, or float32), int32 (C too), bytes (C: int32, float32, int8) */
  int32_t c_type, bias_type; /* bias: as C, or float32 for a float C */
  ng_rounding rounding;      /* of a float C */
  int64_t splits;            /* of k (split-K): summed apart, then in order; 0: the library chooses */
  uint64_t workspace; /* address of ng_gemm_workspace() bytes, aligned to 16; 0: none, and no splits that need it */
  uint64_t workspace_bytes;
  int64_t batch; /* of products, 1 or more; matrices lie stride_ elements apart, 0: all have this A, or B */
  int64_t stride_a, stride_b, stride_c;
  int32_t sum_batch; /* 1: C is one matrix, of the sum of all products; without tensor cores it needs a workspace */
  /* Not 0: a, b and c are tables in device memory, of the addresses of `batch` matrices each, which are multiples of so many
   * bytes: a power of two; 16 is the quickest. Strides 0, rounding to nearest. */
  int32_t pointers;
  int32_t activation;        /* ng_gemm_activation, if relu is 0 or 2: after bias */
  int32_t scale_per_row;     /* scale has m elements instead of n */
  float clip_low, clip_high; /* of NG_CLIP */
  uint64_t scale;            /* address of float32 factors of bytes' sums, for a float32 or int8 C; 0: none */
  uint64_t
      mask; /* address of the bits of a float C, or 0: bit j % 32 of word j / 32 of row i. relu 1 or NG_RELU writes there
                    whether the stored C[i, j] is above 0, NG_DRELU reads */
  int64_t ld_mask; /* words of 32 bits from row to row; the rows of a batch's next matrix follow */
  /* Addresses of float32, written, or 0: of each row (m) and each column (n) of the stored C, a float, the sum and the
   * largest magnitude. They need a workspace. */
  uint64_t row_sum, column_sum, row_max_abs, column_max_abs;
  int32_t precision;       /* ng_precision, of float32 operands. NG_TENSOR wants a workspace, and must have it */
  int32_t no_tensor_cores; /* 1: 16-bit floats have chains of multiply-adds, bytes (the same bits) too */
  /* Addresses of pieces of what A, B are now (ng_gemm_split), or 0, and how many an element has. A product that takes so many
   * reads them instead of making its own; the bits are the same. Not of a batch of several As, or Bs. */
  uint64_t a_pieces, b_pieces;
  int32_t a_piece_count, b_piece_count;
} ng_gemm_problem;
#define NG_GEMM_PROBLEM_INIT                                                                                           \
  {                                                                                                                    \
    sizeof(ng_gemm_problem), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1.0F, 0.0F, 0, 0, 0, 0, 0, 0, 0, 0, NG_ROUNDING_INIT, 0, 0, \
        0, 1, 0, 0, 0, 0, 0, 0, 0, 0.0F, 0.0F, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                                   \
  }

/* Bytes of device memory for partial sums that the problem wants; 0: none. */
NG_C_API ng_status ng_gemm_workspace(const ng_gemm_problem* problem, size_t* bytes);
NG_C_API ng_status ng_gemm(const ng_gemm_problem* problem, uint64_t stream);

/* How many pieces the product has of each element of its operands, 2 or 3; 0: it multiplies them as they are. */
NG_C_API ng_status ng_gemm_pieces(const ng_gemm_problem* problem, int32_t* count);
/* Device memory for `count` pieces, 2 or 3, of a float32 matrix of `rows` rows of `columns` contiguous elements. */
NG_C_API ng_status ng_gemm_pieces_bytes(int64_t rows, int64_t columns, int32_t count, size_t* bytes);
/* Writes them to address `pieces`, aligned to 16, of what lies at `matrix` when `stream` comes to it; rows are `leading` elements
 * apart. Who writes the matrix later calls this again. */
NG_C_API ng_status ng_gemm_split(uint64_t matrix, int64_t rows, int64_t columns, int64_t leading, int32_t count,
                                 uint64_t pieces, uint64_t stream);

/* 1: products and plans that come now measure which of their kernels is the fastest here (autotune.hpp); the first launch of
 * a form then waits and takes memory, unless it is captured. The bits are the same. 0: they do not. */
NG_C_API ng_status ng_gemm_autotune(int32_t on);

/* An ng_precision: what ng_matmul of this thread asks for from now on. At first NG_STRICT. */
NG_C_API ng_status ng_set_precision(int32_t precision);
NG_C_API ng_status ng_get_precision(int32_t* precision);

/* `count` products of any forms, none of which reads or writes what another one writes; all are checked before any is queued.
 * Those of one form go together, as a batch or by tables of their addresses. k is not cut unless a problem's splits says so:
 * the bits are those of each alone with splits 1. workspace: the address of ng_gemm_grouped_workspace() bytes for tables,
 * aligned to 16, or 0: no tables. Problems that want a workspace of their own (ng_gemm_workspace with splits 1) have it in them. */
NG_C_API ng_status ng_gemm_grouped_workspace(const ng_gemm_problem* const* problems, size_t count, size_t* bytes);
NG_C_API ng_status ng_gemm_grouped(const ng_gemm_problem* const* problems, size_t count, uint64_t workspace,
                                   uint64_t workspace_bytes, uint64_t stream);

/* A view of device memory; strides in elements. */
typedef struct ng_tensor {
  size_t size;
  uint64_t address;
  int32_t dtype; /* ng_dtype */
  int32_t ndim;  /* 2 to 8; of expressions 0 to 8 */
  int64_t shape[8];
  int64_t strides[8];
} ng_tensor;
/* clang-format off */
#define NG_TENSOR_INIT \
  { sizeof(ng_tensor), 0, NG_FLOAT32, 2, {0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0} }
/* clang-format on */

/* c = a b as NumPy's matmul has it: the last two axes are matrices, those before them a batch, which is broadcast from a and b;
 * c has the shape of the result and one of the types that ng_gemm_problem names. Matrices must be contiguous along an axis:
 * nothing is copied. workspace: the address of ng_matmul_workspace() bytes, aligned to 16; 0: no splits of k that need it. */
NG_C_API ng_status ng_matmul_workspace(const ng_tensor* a, const ng_tensor* b, const ng_tensor* c, size_t* bytes);
NG_C_API ng_status ng_matmul(const ng_tensor* a, const ng_tensor* b, const ng_tensor* c, uint64_t workspace,
                             uint64_t workspace_bytes, uint64_t stream);

/* A product that is computed many times: the kernel is chosen and its parameters are packed once. */
typedef struct ng_gemm_plan ng_gemm_plan;

/* Where the operands of one launch lie; what the plan has no use for is 0. */
typedef struct ng_gemm_addresses {
  size_t size;
  uint64_t a, b, c, bias;
  uint64_t workspace; /* ng_gemm_plan_workspace() bytes, aligned to 16; not shared by launches that may overlap */
  uint64_t workspace_bytes;
  uint64_t rounding_offset; /* counters added to the problem's */
  uint64_t scale;
  uint64_t mask;
  uint64_t row_sum, column_sum, row_max_abs, column_max_abs;
  uint64_t a_pieces, b_pieces; /* of the problem's counts, where it has them */
} ng_gemm_addresses;
#define NG_GEMM_ADDRESSES_INIT \
  { sizeof(ng_gemm_addresses), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* The problem's addresses only say how the operands are aligned: 0 promises 16 bytes, any other what it has itself. bias,
 * scale, mask, row_sum ... not 0: there is one. workspace is not looked at (splits 1: the plan needs none, but for sums).
 * *plan is null after a failure. */
NG_C_API ng_status ng_gemm_plan_create(const ng_gemm_problem* problem, ng_gemm_plan** plan);
NG_C_API ng_status ng_gemm_plan_workspace(const ng_gemm_plan* plan, size_t* bytes);
/* Any thread, also several at once; may be captured in a CUDA graph. The bits are ng_gemm's with a workspace. */
NG_C_API ng_status ng_gemm_plan_launch(const ng_gemm_plan* plan, const ng_gemm_addresses* addresses, uint64_t stream);
/* Work that is queued, and graphs, do not need the plan any more. Null is ignored. */
NG_C_API void ng_gemm_plan_destroy(ng_gemm_plan* plan);

/* --- convolution -------------------------------------------------------------------------------------------------- */

enum ng_layout {
  NG_CHANNELS_LAST = 0, /* x (N,D,H,W,C)   w (K,T,R,S,C/groups)   y (N,M,P,Q,K) */
  NG_BATCH_LAST = 1,    /* x (C,D,H,W,N)   w (C/groups,T,R,S,K)   y (K,M,P,Q,N) */
  NG_CHANNELS_FIRST = 2 /* x (N,C,D,H,W)   w (K,C/groups,T,R,S)   y (N,K,M,P,Q) */
};

/* Tensors are contiguous but for pitches. Triples are (depth, height, width); axes that are not there have length 1. */
typedef struct ng_conv_problem {
  size_t size;
  int64_t n, c, k, groups; /* batch, channels of x, channels of y */
  int64_t in[3];           /* D, H, W */
  int64_t filter[3];       /* T, R, S */
  int64_t pad[3];
  int64_t stride[3];
  int64_t dilation[3];
  int32_t layout;                 /* ng_layout */
  int32_t x_type, w_type, y_type; /* ng_dtype; dx, dw and dy as x, w and y; conv.hpp says which go together */
  int64_t x_pitch, y_pitch; /* NG_CHANNELS_LAST: elements from pixel to pixel of x and y, slices of channels; 0: c, k */
  int32_t precision;        /* ng_precision, of float32 tensors. NG_TENSOR may want a larger workspace */
  int32_t reserved;         /* 0 */
} ng_conv_problem;
#define NG_CONV_PROBLEM_INIT                                                                                         \
  {                                                                                                                  \
    sizeof(ng_conv_problem), 1, 1, 1, 1, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, {1, 1, 1}, NG_CHANNELS_LAST, 0, \
        0, 0, 0, 0, NG_STRICT, 0                                                                                     \
  }

typedef struct ng_conv_options {
  size_t size;
  float alpha, beta;  /* beta 0: the result's old content is not read */
  int32_t relu;       /* fprop: max(x, 0) at the end */
  int32_t bias_type;  /* ng_dtype: float32, or the type of y; of y int8 float32 */
  uint64_t bias;      /* fprop: address of K elements, or 0 */
  uint64_t workspace; /* address of ng_conv_workspace() bytes, aligned to 16 */
  uint64_t workspace_bytes;
  uint64_t stream;
  ng_rounding rounding; /* of a float or int8 result */
  uint64_t mask; /* bits of a float result, rows of its last axis in words of 32, or 0. fprop with relu writes them, */
                 /* bprop, given those of x, stores 0 where the bit is 0 (conv.hpp) */
  int64_t mask_pitch;        /* words from row to row of the mask; 0: as many as a row has */
  int32_t no_tensor_cores;   /* 1: 16-bit floats have chains of multiply-adds, as on other GPUs than sm_90a */
  int32_t activation;        /* fprop: ng_gemm_activation, if relu is 0, of a float or int8 y; not NG_DRELU */
  uint64_t scale;            /* fprop of bytes to a float32 or int8 y: address of K float32, or 0 */
  float clip_low, clip_high; /* of NG_CLIP */
  uint64_t channel_sum; /* fprop, bprop: float32 for each channel of a float result, the sum of its elements as they */
                        /* are stored, or 0; the workspace is then ng_conv_sums_workspace() bytes */
  uint64_t channel_sum_squares; /* the same of their squares */
  /* Pieces of x and of y (dy) that passes of NG_TENSOR share, so that each is split once a step: addresses of
   * ng_conv_pieces_bytes(), multiples of 16, or 0. fprop leaves those of x, bprop those of dy, and update takes those that
   * are made (1), in the same stream. Nobody writes the tensor in between. Of a plan: 0. */
  uint64_t x_pieces, y_pieces;
  int32_t x_pieces_made, y_pieces_made; /* update: a pass with the same tensor has left them (ng_conv_makes_pieces) */
} ng_conv_options;
#define NG_CONV_OPTIONS_INIT                                                                                           \
  {                                                                                                                    \
    sizeof(ng_conv_options), 1.0F, 0.0F, 0, 0, 0, 0, 0, 0, NG_ROUNDING_INIT, 0, 0, 0, 0, 0, 0.0F, 0.0F, 0, 0, 0, 0, 0, \
        0                                                                                                              \
  }

typedef enum ng_conv_pass NG_OF_INT { NG_FPROP = 0, NG_BPROP = 1, NG_UPDATE = 2 } ng_conv_pass;

/* out = (M, P, Q), each floor((X + 2 pad - dilation (F - 1) - 1) / stride) + 1. */
NG_C_API ng_status ng_conv_out(const ng_conv_problem* problem, int64_t out[3]);
/* Bytes of device memory that a pass wants besides its operands; 0: none. */
NG_C_API ng_status ng_conv_workspace(ng_conv_pass pass, const ng_conv_problem* problem, size_t* bytes);
/* The same of a pass with channel_sum or channel_sum_squares. */
NG_C_API ng_status ng_conv_sums_workspace(ng_conv_pass pass, const ng_conv_problem* problem, size_t* bytes);
/* Bytes for the pieces of a tensor of so many pixels of so many channels. */
NG_C_API ng_status ng_conv_pieces_bytes(int64_t pixels, int64_t channels, size_t* bytes);
/* *makes = 1: fprop (bprop) with these options leaves pieces of x (dy), and update takes those that are made; 0: it has none. */
NG_C_API ng_status ng_conv_makes_pieces(ng_conv_pass pass, const ng_conv_problem* problem,
                                        const ng_conv_options* options, int32_t* makes);
/* Device addresses; options may be null. The result shares no memory with the operands.
 *   fprop   y  = act(alpha * (x * w) + beta * y + bias)
 *   bprop   dx = alpha * (dy, w) + beta * dx
 *   update  dw = alpha * (dy, x) + beta * dw */
NG_C_API ng_status ng_conv_fprop(const ng_conv_problem* problem, uint64_t x, uint64_t w, uint64_t y,
                                 const ng_conv_options* options);
NG_C_API ng_status ng_conv_bprop(const ng_conv_problem* problem, uint64_t dy, uint64_t w, uint64_t dx,
                                 const ng_conv_options* options);
NG_C_API ng_status ng_conv_update(const ng_conv_problem* problem, uint64_t dy, uint64_t x, uint64_t dw,
                                  const ng_conv_options* options);

/* A pass that is computed many times: its kernels are chosen and their parameters are packed once. */
typedef struct ng_conv_plan ng_conv_plan;

/* Where the operands of one launch lie; what the plan has no use for is 0. */
typedef struct ng_conv_addresses {
  size_t size;
  uint64_t in1, in2, out; /* x, w, y of fprop; dy, w, dx of bprop; dy, x, dw of update */
  uint64_t bias, mask;
  uint64_t workspace; /* ng_conv_plan_workspace() bytes, aligned to 16; not shared by launches that may overlap */
  uint64_t workspace_bytes;
  uint64_t rounding_offset; /* counters added to the options' */
  uint64_t scale;
  uint64_t channel_sum, channel_sum_squares;
} ng_conv_addresses;
#define NG_CONV_ADDRESSES_INIT \
  { sizeof(ng_conv_addresses), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* like: addresses that only say how the operands are aligned: 0 promises 16 bytes, any other what it has itself, up to 16;
 * null: 16. Of the options bias, mask, scale and sums, not 0: there is one, aligned so; workspace and stream are not looked at.
 * *plan is null after a failure. */
NG_C_API ng_status ng_conv_plan_create(ng_conv_pass pass, const ng_conv_problem* problem, const ng_conv_addresses* like,
                                       const ng_conv_options* options, ng_conv_plan** plan);
NG_C_API ng_status ng_conv_plan_workspace(const ng_conv_plan* plan, size_t* bytes);
/* Any thread, also several at once; may be captured in a CUDA graph. The bits are those of ng_conv_fprop and so on. */
NG_C_API ng_status ng_conv_plan_launch(const ng_conv_plan* plan, const ng_conv_addresses* addresses, uint64_t stream);
/* Work that is queued, and graphs, do not need the plan any more. Null is ignored. */
NG_C_API void ng_conv_plan_destroy(ng_conv_plan* plan);

/* --- pooling ------------------------------------------------------------------------------------------------------ */

enum ng_pool_op { NG_POOL_MAX = 0, NG_POOL_AVG = 1, NG_POOL_L2 = 2 };

/* Quadruples are (feature maps, depth, height, width). */
typedef struct ng_pool_problem {
  size_t size;
  int64_t n;
  int64_t in[4];     /* C, D, H, W */
  int64_t window[4]; /* J, T, R, S */
  int64_t pad[4];
  int64_t stride[4];
  int32_t op;            /* ng_pool_op */
  int32_t layout;        /* ng_layout */
  int32_t dtype;         /* ng_dtype: float32, float16 or bfloat16 */
  int32_t count_padding; /* avg: 1: padding counts as zeros */
  int64_t x_pitch;       /* NG_CHANNELS_LAST: elements from pixel to pixel of x and dx, slices of channels; 0: C */
} ng_pool_problem;
#define NG_POOL_PROBLEM_INIT                                                                                           \
  {                                                                                                                    \
    sizeof(ng_pool_problem), 1, {1, 1, 1, 1}, {1, 1, 1, 1}, {0, 0, 0, 0}, {1, 1, 1, 1}, NG_POOL_MAX, NG_CHANNELS_LAST, \
        NG_FLOAT32, 0, 0                                                                                               \
  }

typedef struct ng_pool_options {
  size_t size;
  float alpha, beta; /* y = alpha * pool(x) + beta * y; the same for dx */
  uint64_t stream;
  ng_rounding rounding;
  int32_t relu; /* ng_max_pool_fprop, 1: x is the result of a ReLU, whose gradient ng_max_pool_bprop takes along */
} ng_pool_options;
#define NG_POOL_OPTIONS_INIT \
  { sizeof(ng_pool_options), 1.0F, 0.0F, 0, NG_ROUNDING_INIT, 0 }

/* out = (K, M, P, Q), each floor((X + 2 pad - window) / stride) + 1. */
NG_C_API ng_status ng_pool_out(const ng_pool_problem* problem, int64_t out[4]);
/* Device addresses; options may be null. */
NG_C_API ng_status ng_pool_fprop(const ng_pool_problem* problem, uint64_t x, uint64_t y,
                                 const ng_pool_options* options);
NG_C_API ng_status ng_pool_bprop(const ng_pool_problem* problem, uint64_t dy, uint64_t x, uint64_t dx,
                                 const ng_pool_options* options);
/* max that saves where each window's largest element is, and the gradient from that, without x (pool.hpp); argmax is the address of
 * as many bytes as ng_pool_argmax_bytes says. */
NG_C_API ng_status ng_pool_argmax_bytes(const ng_pool_problem* problem, int64_t* bytes);
NG_C_API ng_status ng_max_pool_fprop(const ng_pool_problem* problem, uint64_t x, uint64_t y, uint64_t argmax,
                                     const ng_pool_options* options);
NG_C_API ng_status ng_max_pool_bprop(const ng_pool_problem* problem, uint64_t dy, uint64_t argmax, uint64_t dx,
                                     const ng_pool_options* options);

/* A convolution, its relu and the max pool after it: y = max pool of ng_conv_fprop's result. Of `pool` op (NG_POOL_MAX), window, pad
 * and stride count; ng_conv_max_pool_behind() puts the rest in, as ng_pool_argmax_bytes and ng_max_pool_bprop want it. argmax: as of
 * ng_max_pool_fprop with relu = options->relu, or 0. First layers have one kernel (conv_pool.hpp), which does not write what lies
 * between; otherwise that is in memory of the library's pool, as are its workspaces: options->workspace is not looked at. There is no
 * mask, no sums and no beta. */
NG_C_API ng_status ng_conv_max_pool_behind(const ng_conv_problem* problem, ng_pool_problem* pool);
NG_C_API ng_status ng_conv_max_pool_is_one_kernel(const ng_conv_problem* problem, const ng_pool_problem* pool,
                                                  const ng_conv_options* options, int32_t* one);
NG_C_API ng_status ng_conv_max_pool_fprop(const ng_conv_problem* problem, const ng_pool_problem* pool, uint64_t x,
                                          uint64_t w, uint64_t y, uint64_t argmax, const ng_conv_options* options);

/* A pass that is computed many times: its kernel is chosen and its parameters are packed once. It needs no workspace. */
typedef enum ng_pool_pass NG_OF_INT { NG_POOL_FPROP = 0, NG_POOL_BPROP = 1 } ng_pool_pass;
typedef struct ng_pool_plan ng_pool_plan;

/* Where the operands of one launch lie; what the plan has no use for is 0. */
typedef struct ng_pool_addresses {
  size_t size;
  uint64_t in, out;         /* x, y of fprop; dy, dx of bprop */
  uint64_t x;               /* bprop of max and l2 without argmax */
  uint64_t argmax;          /* max: written by fprop, read by bprop in place of x */
  uint64_t rounding_offset; /* counters added to the options' */
} ng_pool_addresses;
#define NG_POOL_ADDRESSES_INIT \
  { sizeof(ng_pool_addresses), 0, 0, 0, 0, 0 }

/* like: addresses that only say how the operands are aligned: 0 promises 16 bytes, any other what it has itself, up to 16;
 * argmax, not 0: there is one. Null: 16, and no argmax. *plan is null after a failure. */
NG_C_API ng_status ng_pool_plan_create(ng_pool_pass pass, const ng_pool_problem* problem, const ng_pool_addresses* like,
                                       const ng_pool_options* options, ng_pool_plan** plan);
/* Any thread, also several at once; may be captured in a CUDA graph. The bits are those of ng_pool_fprop and so on. */
NG_C_API ng_status ng_pool_plan_launch(const ng_pool_plan* plan, const ng_pool_addresses* addresses, uint64_t stream);
/* Work that is queued, and graphs, do not need the plan any more. Null is ignored. */
NG_C_API void ng_pool_plan_destroy(ng_pool_plan* plan);

/* --- expressions -------------------------------------------------------------------------------------------------- */

/* What is computed of arrays, element by element, and sums of it: written first, computed by ng_expr_assign() as few kernels
 * of our own, which the library assembles the first time that it meets such a form. Shapes are broadcast and types promoted
 * as NumPy's; a number takes the type of what it meets (expr.hpp). Expressions work in the default stream.
 *
 * An expression has one value, that of its operands' memory at its first ng_expr_assign(); for other data it is written
 * anew, which costs microseconds. Every function that makes one sets *expr, to null after a failure; each is destroyed by
 * ng_expr_destroy(), in any order: an expression keeps the parts that it is made of. */
typedef struct ng_expr ng_expr;

/* Of a view; its memory must be there until the value is computed. */
NG_C_API ng_status ng_expr_tensor(const ng_tensor* tensor, ng_expr** expr);
NG_C_API ng_status ng_expr_real(double value, ng_expr** expr);
NG_C_API ng_status ng_expr_integer(int64_t value, ng_expr** expr);
/* Uniform numbers in [0, 1) for as many elements as what it becomes part of has: element i is made of word i % 4 of
 * Philox4x32-10(seed, offset + i / 4). */
NG_C_API ng_status ng_expr_random(uint64_t seed, uint64_t offset, ng_expr** expr);
/* An operation by its name in expr_ops.inc, "add", "exp", "where" ..., or "fma", of as many operands as it has. */
NG_C_API ng_status ng_expr_apply(const char* name, const ng_expr* const* operands, size_t count, ng_expr** expr);
NG_C_API ng_status ng_expr_cast(const ng_expr* x, int32_t dtype, ng_expr** expr);
/* "sum", "prod", "max", "min", "mean", "var" or "std" over `count` axes (0: all), from the end if negative; they stay with
 * length 1 if keepdims is 1. Variances divide by the number of elements less ddof. */
NG_C_API ng_status ng_expr_reduce(const char* name, const ng_expr* x, const int32_t* axes, size_t count,
                                  int32_t keepdims, int32_t ddof, ng_expr** expr);
/* The product of two matrices; what follows it joins its kernel, as an epilogue, where it can (expr.hpp). */
NG_C_API ng_status ng_expr_product(const ng_tensor* a, const ng_tensor* b, ng_expr** expr);
/* dtype, ndim and shape of the value, with the strides of a contiguous one; the address stays. */
NG_C_API ng_status ng_expr_describe(const ng_expr* x, ng_tensor* tensor);
/* out[...] = x, broadcast and converted to the same kind of type or a wider one (NG_TYPE_ERROR otherwise: ng_expr_cast). `out`
 * may be an operand of x. */
NG_C_API ng_status ng_expr_assign(const ng_tensor* out, const ng_expr* x);
NG_C_API void ng_expr_destroy(ng_expr* expr); /* null is ignored */

#ifdef __cplusplus
}
#endif

#endif /* NERVANAGPU_H */
/* NOLINTEND */

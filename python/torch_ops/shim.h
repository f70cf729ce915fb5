// torch's stable C interface, as much of it as our operators use. It is written down here, as XLA's and DLPack's are, so that
// building needs no torch; and its functions are looked up when torch is there, so that loading needs none either.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nervanagpu::python::torch {

using Value = std::uint64_t;  // an argument or a result: the bits of a number, or a pointer
using Kernel = void (*)(Value* stack, std::uint64_t arguments, std::uint64_t results);
using Failed = std::int32_t;  // 0: it has worked; else torch has written to stderr why not

struct TensorObject;   // at::Tensor
struct LibraryObject;  // torch::Library
struct ListObject;     // a list of Values

// F(name, type): what is called `name` here is aoti_torch_`name` there, since torch 2.9.
#define NG_TORCH_SHIM(F)                                                                                      \
  F(library_init_def, Failed (*)(const char* ns, const char* file, std::uint32_t line, LibraryObject** out))  \
  F(library_init_impl,                                                                                        \
    Failed (*)(const char* ns, const char* key, const char* file, std::uint32_t line, LibraryObject** out))   \
  F(library_def, Failed (*)(LibraryObject*, const char* schema))                                              \
  F(library_impl, Failed (*)(LibraryObject*, const char* name, Kernel))                                       \
  F(delete_tensor_object, Failed (*)(TensorObject*))                                                          \
  F(get_data_ptr, Failed (*)(TensorObject*, void** out))                                                      \
  F(get_dim, Failed (*)(TensorObject*, std::int64_t * out))                                                   \
  F(get_sizes, Failed (*)(TensorObject*, std::int64_t * *out))                                                \
  F(get_strides, Failed (*)(TensorObject*, std::int64_t * *out))                                              \
  F(get_dtype, Failed (*)(TensorObject*, std::int32_t * out))                                                 \
  F(get_device_type, Failed (*)(TensorObject*, std::int32_t * out))                                           \
  F(get_layout, Failed (*)(TensorObject*, std::int32_t * out))                                                \
  F(get_device_index, Failed (*)(TensorObject*, std::int32_t * out))                                          \
  F(empty_strided, Failed (*)(std::int64_t axes, const std::int64_t* sizes, const std::int64_t* strides,      \
                              std::int32_t dtype, std::int32_t type, std::int32_t index, TensorObject** out)) \
  F(copy_, Failed (*)(TensorObject * to, TensorObject * from, std::int32_t non_blocking))                     \
  F(zero_, Failed (*)(TensorObject*))                                                                         \
  F(layout_strided, std::int32_t (*)())                                                                       \
  F(device_type_cpu, std::int32_t (*)())                                                                      \
  F(device_type_cuda, std::int32_t (*)())                                                                     \
  F(dtype_float32, std::int32_t (*)())                                                                        \
  F(dtype_float16, std::int32_t (*)())                                                                        \
  F(dtype_bfloat16, std::int32_t (*)())                                                                       \
  F(dtype_float64, std::int32_t (*)())                                                                        \
  F(dtype_int8, std::int32_t (*)())                                                                           \
  F(dtype_uint8, std::int32_t (*)())                                                                          \
  F(dtype_int16, std::int32_t (*)())                                                                          \
  F(dtype_int32, std::int32_t (*)())                                                                          \
  F(dtype_int64, std::int32_t (*)())                                                                          \
  F(dtype_bool, std::int32_t (*)())                                                                           \
  F(dtype_complex64, std::int32_t (*)())                                                                      \
  F(dtype_complex128, std::int32_t (*)())                                                                     \
  F(dtype_complex32, std::int32_t (*)())                                                                      \
  F(dtype_uint16, std::int32_t (*)())                                                                         \
  F(dtype_uint32, std::int32_t (*)())                                                                         \
  F(dtype_uint64, std::int32_t (*)())                                                                         \
  F(dtype_float8_e4m3fn, std::int32_t (*)())                                                                  \
  F(dtype_float8_e5m2, std::int32_t (*)())                                                                    \
  F(dtype_float8_e4m3fnuz, std::int32_t (*)())                                                                \
  F(dtype_float8_e5m2fnuz, std::int32_t (*)())

// F(name, type, symbol): what operators entered from Python want (from_python.h). All of it is there since torch 2.14.
#define NG_TORCH_PYTHON(F)                                                                      \
  F(from_python, Failed (*)(void* object, TensorObject** out), "torch_tensor_from_pyobject")    \
  F(to_python, Failed (*)(TensorObject*, void* type, void** out), "torch_tensor_to_pyobject")   \
  F(new_list, Failed (*)(std::size_t room, ListObject * *out), "torch_new_list_reserve_size")   \
  F(push, Failed (*)(ListObject*, Value), "torch_list_push_back")                               \
  F(new_handle, Failed (*)(TensorObject*, TensorObject * *out), "aoti_torch_new_tensor_handle") \
  F(new_value, Failed (*)(Value * *out), "torch_new_stable_ivalue")                             \
  F(grad_mode_is_enabled, bool (*)(), "aoti_torch_grad_mode_is_enabled")                        \
  F(dispatch, Failed (*)(const char* name, const char* overload, Value* stack), "aoti_torch_call_dispatcher")

// F(name, type, symbol): what kernels with lists want, as they stand since torch 2.10.
#define NG_TORCH_LISTS(F)                                                                         \
  F(library_impl_of, Failed (*)(LibraryObject*, const char* name, Kernel, std::uint64_t version), \
    "torch_library_impl")                                                                         \
  F(list_size, Failed (*)(ListObject*, std::size_t * out), "torch_list_size")                     \
  F(list_item, Failed (*)(ListObject*, std::size_t, Value * out), "torch_list_get_item")          \
  F(is_defined, Failed (*)(TensorObject*, bool* out), "aoti_torch_is_defined")                    \
  F(delete_list, Failed (*)(ListObject*), "torch_delete_list")                                    \
  F(new_uninitialized_tensor, Failed (*)(TensorObject * *out), "aoti_torch_new_uninitialized_tensor")

constexpr std::uint64_t kLists = 0x020a000000000000;  // how torch 2.10 gives arguments

struct Shim {
#define NG_TORCH_FIELD(name, type, ...) \
  using name##_type = type;             \
  name##_type name = nullptr;
  NG_TORCH_SHIM(NG_TORCH_FIELD)
  NG_TORCH_PYTHON(NG_TORCH_FIELD)  // with python == false some are null
  NG_TORCH_LISTS(NG_TORCH_FIELD)   // and with direct == false
#undef NG_TORCH_FIELD
  bool python = false, direct = false;
  Failed (*get_current_cuda_stream)(std::int32_t index, void** out) = nullptr;  // null: a torch without CUDA
  std::int32_t cpu = 0, cuda = 0, float32 = 0, float16 = 0, bfloat16 = 0;
  std::int32_t uint8 = 0, int64 = 0, strided = 0;  // the numbers of devices, dtypes and a layout
};

// Once open_shim() has found it.
const Shim& shim() noexcept;
// Looks for the functions in the torch that this process has imported; the name of what is missing, or null.
const char* open_shim();

}  // namespace nervanagpu::python::torch

# NG_UNITY: the files of a folder are compiled together, 16 at a time: what they include is read once. The names of their
# anonymous namespaces must differ then. What shares one is named here, a file or a folder, and compiled as ever.
set(ng_alone_folders kernels/conv/halo sass/emulate/ops sass/emulate/ops/control sass/emulate/ops/memory sass/isa/words128 sass/isa/words64 src/fuse/numeric)
set(ng_alone
  kernels/conv/conv_plan.cpp
  kernels/conv/depthwise/depthwise_any.cpp
  kernels/conv/depthwise/partial_sums.cpp
  kernels/conv/problem_facts.cpp
  kernels/gemm/cost/cost.cpp
  kernels/gemm/group.cpp
  kernels/gemm/pieces/tail.cpp
  kernels/gemm/tensors/dot.cpp
  kernels/nn/softmax.cpp
  kernels/pool/pool_plan.cpp
  kernels/pool/tensors.cpp
  layers/program.cpp
  python/bind_toolchain.cpp
  python/convert.cpp
  python/operations/bind_gemm_plan.cpp
  python/operations/bind_layers.cpp
  python/operations/bind_pool.cpp
  python/operations/bind_pool_plan.cpp
  python/tensor/bind_fast_slots.cpp
  python/tensor/bind_number_slots.cpp
  python/tensor/bind_tensor.cpp
  python/torch_ops/pooling.cpp
  python/xla/bind_xla.cpp
  sass/asm/builder/assign.cpp
  sass/asm/cubin/manifest_text.cpp
  sass/asm/report.cpp
  sass/asm/report_text.cpp
  sass/asm/template/allocate.cpp
  sass/asm/template/expander.cpp
  sass/asm/template/expr.cpp
  sass/dis/kernel_info.cpp
  sass/dis/read_cubin.cpp
  sass/dis/read_data.cpp
  sass/emulate/engine/mbarrier.cpp
  sass/isa/codec/raw_word.cpp
  sass/isa/latency.cpp
  sass/tools/run_args.cpp
  sass/verify/scoreboards.cpp
  src/c_api/c_api_products.cpp
  src/fuse/kernels/elementwise.cpp
  src/fuse/kernels/row_scan.cpp
  src/fuse/kernels/rows.cpp
  src/fuse/kernels/rows_kernel.cpp
  src/fuse/kernels/tile_kernel.cpp
  src/tensor/shape.cpp
  test/cudac/sparse_test.cpp
  test/cudac/texture_test.cpp
  test/gpu/conv_peer_test.cpp
  test/gpu/cudnn.cpp
  test/gpu/cudnn_pool.cpp
  test/gpu/reference_pool.cpp
  test/kernels/conv/choice_test.cpp
  test/kernels/conv/depthwise_test.cpp
  test/kernels/conv/halo_test.cpp
  test/kernels/conv/mapping_test.cpp
  test/kernels/conv/piece_cells_test.cpp
  test/kernels/conv/windows_test.cpp
  test/kernels/conv/pieces_test.cpp
  test/kernels/conv/plan_test.cpp
  test/kernels/conv/random_problem.cpp
  test/kernels/conv/shared_pieces_test.cpp
  test/kernels/conv/two_pieces_test.cpp
  test/kernels/gemm/plan_test.cpp
  test/kernels/lib/float_ops_test.cpp
  test/kernels/lib/random_test.cpp
  test/kernels/nn/parts_test.cpp
  test/kernels/nn/sgd_test.cpp
  test/kernels/pool/slices_test.cpp
  test/mutants/main.cpp
  test/sass/asm/link_test.cpp
  test/sass/asm/lowering_harness.cpp
  test/sass/asm/template_errors_test.cpp
  test/sass/emulate/checked_barriers_test.cpp
  test/sass/emulate/checked_test.cpp
  test/sass/emulate/control64_test.cpp
  test/sass/emulate/control_test.cpp
  test/sass/emulate/copy_engine_test.cpp
  test/sass/emulate/copy_races_test.cpp
  test/sass/emulate/faults_test.cpp
  test/sass/emulate/mbarrier_test.cpp
  test/sass/emulate/orders_test.cpp
  test/sass/emulate/races_test.cpp
  test/sass/emulate/tensor_checked_test.cpp
  test/sass/verify/ownership_test.cpp
  test/sass/verify/verify_test.cpp
  test/variants/convolve.cpp
  test/variants/copy.cpp
  test/variants/draw_product.cpp
)

set(ng_unity_files 16)

function(ng_unite target)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    cmake_path(GET source PARENT_PATH folder)
    if(NOT source MATCHES "\\.cpp$" OR source MATCHES "^(\\.\\.|build)/" OR source IN_LIST ng_alone OR
       folder IN_LIST ng_alone_folders)
      continue()
    endif()
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(NOT DEFINED count_${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR group "${count_${folder}} / ${ng_unity_files}")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
foreach(target ${targets})
  get_target_property(type ${target} TYPE)
  if(type MATCHES "^(OBJECT_LIBRARY|STATIC_LIBRARY|EXECUTABLE|MODULE_LIBRARY)$")
    ng_unite(${target})
  endif()
endforeach()

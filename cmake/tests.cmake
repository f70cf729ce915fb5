# test/ mirrors the tree: each directory is one GoogleTest executable, and each executable one CTest test.
enable_testing()

# The tests' own files are compiled in two thirds of the time that -O2 takes; what they test is as it is shipped.
set(test_options $<$<CONFIG:Release>:-O1>)

# Programs that need no GoogleTest.
if(TARGET ng_runtime)
  function(ng_test_program name)
    add_executable(${name} ${ARGN})
    target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(${name} PRIVATE ng_runtime ng_flags)
    target_compile_options(${name} PRIVATE ${test_options})
    target_compile_definitions(${name} PRIVATE NG_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}")
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  endfunction()

  # Every kernel by name, with problems whose results are exact.
  file(GLOB variants_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/test/variants/*.cpp)
  foreach(part bound buffer cases numbers reference_conv reference_pool)
    list(APPEND variants_sources ${CMAKE_CURRENT_SOURCE_DIR}/test/gpu/${part}.cpp)
  endforeach()
  list(APPEND variants_sources ${CMAKE_CURRENT_SOURCE_DIR}/test/kernels/bound.cpp)
  ng_test_program(variants ${variants_sources})
  add_test(NAME variants COMMAND variants)
  add_test(NAME variants_checked COMMAND variants --problems 300)
  set_tests_properties(variants PROPERTIES ENVIRONMENT "NERVANAGPU_DEVICE=emulator")
  set_tests_properties(variants_checked PROPERTIES
    ENVIRONMENT "NERVANAGPU_DEVICE=emulator;NERVANAGPU_EMULATOR=checked")
  # Kernels with one field of their control codes changed: what a checked run finds, verify must have found.
  # Of operations that no case launches, problems are drawn as for `variants`.
  file(GLOB mutants_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/test/mutants/*.cpp)
  set(drawing ${variants_sources})
  list(FILTER drawing EXCLUDE REGEX "/variants/main.cpp$")
  ng_test_program(mutants ${mutants_sources} ${drawing})
  add_test(NAME mutants COMMAND mutants --each 8)

  # Each family in orders of warps drawn from a seed; with `ctest -C long` in more of them.
  foreach(seed RANGE 1 12)
    if(seed LESS 4)
      set(when --each 1)
    else()
      set(when --each 4 CONFIGURATIONS long)
    endif()
    add_test(NAME variants_order_${seed} COMMAND variants ${when})
    set_tests_properties(variants_order_${seed} PROPERTIES
      ENVIRONMENT "NERVANAGPU_DEVICE=emulator;NERVANAGPU_EMULATOR=checked;NERVANAGPU_EMULATOR_ORDER=${seed}")
  endforeach()
  foreach(arch sm_52 sm_80)
    add_test(NAME variants_${arch} COMMAND variants)
    set_tests_properties(variants_${arch} PROPERTIES
      ENVIRONMENT "NERVANAGPU_DEVICE=emulator;NERVANAGPU_EMULATOR_ARCH=${arch}")
  endforeach()
endif()

if(GTEST_SOURCE_DIR)
  set(gtest_sources ${GTEST_SOURCE_DIR})
elseif(NOT NG_SANITIZE)  # a sanitized build compiles its own GoogleTest, if the sources are there
  find_package(GTest QUIET)
endif()
if(NOT TARGET GTest::gtest_main AND NOT gtest_sources AND EXISTS /usr/src/googletest/CMakeLists.txt)
  set(gtest_sources /usr/src/googletest)
endif()
if(NOT TARGET GTest::gtest_main AND gtest_sources)
  set(INSTALL_GTEST OFF CACHE INTERNAL "")
  set(BUILD_GMOCK ON CACHE INTERNAL "")
  add_subdirectory(${gtest_sources} ${CMAKE_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
  foreach(part gtest gtest_main gmock)
    if(NOT TARGET GTest::${part})
      add_library(GTest::${part} ALIAS ${part})
    endif()
  endforeach()
endif()
if(NOT TARGET GTest::gtest_main)
  if(NG_REQUIRE_TESTS)
    message(FATAL_ERROR "GoogleTest is missing: install libgtest-dev, or name its sources with -DGTEST_SOURCE_DIR=DIR")
  endif()
  message(STATUS "GoogleTest is missing (libgtest-dev, or -DGTEST_SOURCE_DIR=DIR): the C++ tests are skipped")
  return()
endif()

# ng_test(NAME DIR [TOP] [BUILD_ONLY] [SHARDS n] [LINK targets...]): every .cpp under test/DIR (TOP: not in its
# subdirectories). BUILD_ONLY: the caller says which CTest tests it makes. SHARDS: n CTest tests, which share them out.
function(ng_test name dir)
  cmake_parse_arguments(arg "TOP;BUILD_ONLY" "SHARDS" "LINK" ${ARGN})
  set(glob GLOB_RECURSE)
  if(arg_TOP)
    set(glob GLOB)
  endif()
  file(${glob} sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/test/${dir}/*.cpp)
  foreach(target ${arg_LINK})
    if(NOT TARGET ${target})
      return()
    endif()
  endforeach()
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gtest GTest::gtest_main ng_flags)
  target_compile_options(${name} PRIVATE ${test_options})
  # Where golden vectors and templates are read from, and the tool that command-line tests start.
  target_compile_definitions(${name} PRIVATE NG_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}"
                             NG_BINARY_DIR="${CMAKE_BINARY_DIR}")
  if(TARGET ngasm)
    target_compile_definitions(${name} PRIVATE NGASM_PATH="$<TARGET_FILE:ngasm>")
    add_dependencies(${name} ngasm)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  if(arg_BUILD_ONLY)
    return()
  endif()
  if(NOT arg_SHARDS)
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
    return()
  endif()
  math(EXPR last "${arg_SHARDS} - 1")
  foreach(shard RANGE ${last})
    add_test(NAME ${name}_${shard} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${name}_${shard} PROPERTIES COST 100  # the longest first
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()

ng_test(test_sass sass TOP LINK ng_sass)
ng_test(test_isa sass/isa LINK ng_sass)
ng_test(test_asm sass/asm LINK ng_sass)
ng_test(test_dis sass/dis LINK ng_sass)
ng_test(test_verify sass/verify LINK ng_sass)
ng_test(test_emulate sass/emulate LINK ng_sass)
ng_test(test_tools sass/tools LINK ng_sass)
ng_test(test_runtime src LINK ng_runtime)
ng_test(test_kernels kernels SHARDS 6 LINK ng_runtime)
ng_test(test_layers layers LINK ng_runtime)
ng_test(test_devices devices LINK ng_runtime)  # two of them, emulated
ng_test(test_cudac cudac LINK ng_runtime)  # programs in CUDA C, on the emulator or a GPU
if(TARGET test_cudac)
  foreach(seed 1 2 3 4 5 6)
    if(seed LESS 3)
      set(when)
    else()
      set(when CONFIGURATIONS long)
    endif()
    add_test(NAME test_cudac_order_${seed} COMMAND test_cudac --gtest_brief=1 --gtest_filter=*checked* ${when})
    set_tests_properties(test_cudac_order_${seed} PROPERTIES
      ENVIRONMENT "NERVANAGPU_DEVICE=emulator;NERVANAGPU_EMULATOR_ORDER=${seed}")
  endforeach()
endif()
ng_test(test_tma tma LINK ng_runtime)  # the copy engine, on the emulator or beside a GPU

# Problems with exact results, on every kind of device; and beside cuBLAS and cuDNN, which needs a GPU.
ng_test(test_gpu gpu BUILD_ONLY LINK ng_runtime)
if(TARGET test_gpu)
  # The references' inner loops: vectorised.
  set_source_files_properties(test/gpu/reference_conv.cpp PROPERTIES COMPILE_OPTIONS -O3)
  set(exact --gtest_brief=1 --gtest_filter=-*Beside*)
  add_test(NAME gpu_exact COMMAND test_gpu ${exact})
  add_test(NAME gpu_exact_checked COMMAND test_gpu ${exact})
  set_tests_properties(gpu_exact_checked PROPERTIES
    ENVIRONMENT "NERVANAGPU_DEVICE=emulator;NERVANAGPU_EMULATOR=checked;NG_GPU_PROBLEMS=320")
  # 2,500 products more, and 500 in checked mode.
  add_test(NAME gpu_exact_gemm COMMAND test_gpu --gtest_brief=1 --gtest_filter=Exact.Gemm)
  add_test(NAME gpu_exact_gemm_checked COMMAND test_gpu --gtest_brief=1 --gtest_filter=Exact.Gemm)
  set_tests_properties(gpu_exact_gemm PROPERTIES
    ENVIRONMENT "NERVANAGPU_DEVICE=emulator;NG_GPU_PROBLEMS=10000;NG_GPU_FIRST=10000")
  set_tests_properties(gpu_exact_gemm_checked PROPERTIES
    ENVIRONMENT "NERVANAGPU_DEVICE=emulator;NERVANAGPU_EMULATOR=checked;NG_GPU_PROBLEMS=2000;NG_GPU_FIRST=20000")
  foreach(arch sm_52 sm_80)
    add_test(NAME gpu_exact_${arch} COMMAND test_gpu ${exact})
    set_tests_properties(gpu_exact_${arch} PROPERTIES
      ENVIRONMENT "NERVANAGPU_DEVICE=emulator;NERVANAGPU_EMULATOR_ARCH=${arch};NG_GPU_PROBLEMS=640")
  endforeach()
  add_test(NAME gpu_cublas COMMAND test_gpu --gtest_filter=*BesideCublas*)
  add_test(NAME gpu_cudnn COMMAND test_gpu --gtest_filter=*BesideCudnn*)
  set_tests_properties(gpu_cublas gpu_cudnn PROPERTIES SKIP_REGULAR_EXPRESSION "NOT COMPARED: ")
endif()

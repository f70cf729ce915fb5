# Fuzz targets (the fuzz preset): clang's libFuzzer with AddressSanitizer and UndefinedBehaviorSanitizer, over the
# toolchain and the library's parsers. compiler.cmake sets the flags; `make fuzz` builds and runs them.
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "NG_FUZZ needs clang++: libFuzzer comes with it")
endif()
# What reads text and bytes, and needs no device.
add_library(ng_parsers STATIC
  layers/config.cpp layers/config_json.cpp layers/safetensors.cpp kernels/gemm/choose/choices.cpp
  src/json.cpp src/private_file.cpp src/numbers/dtype.cpp src/error.cpp src/device/tensor_map.cpp)
target_include_directories(ng_parsers PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/include)
target_link_libraries(ng_parsers PUBLIC ng_sass PRIVATE ng_flags)
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/test/fuzz/*_fuzz.cpp)
add_custom_target(fuzzers)
foreach(source ${fuzz_sources})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE ng_parsers ng_sass ng_flags)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  add_dependencies(fuzzers ${name})
endforeach()

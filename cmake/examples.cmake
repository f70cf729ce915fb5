# The samples. Those in C prove that nervanagpu.h is C99, that the library exports it, and that its results are right.
enable_testing()

# The C++ twin of examples/digits_network.py; test/python/project/test_examples.py compares the two.
add_executable(digits_network examples/digits_network.cpp)
target_link_libraries(digits_network PRIVATE nervanagpu ng_flags)
set_target_properties(digits_network PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

include(CheckLanguage)
check_language(C)
if(NOT CMAKE_C_COMPILER)
  message(STATUS "There is no C compiler: the C sample is skipped")
  return()
endif()
enable_language(C)
foreach(sample convolution expressions products streams)
  add_executable(c_${sample} examples/c/${sample}.c)
  target_link_libraries(c_${sample} PRIVATE nervanagpu m)
  target_compile_options(c_${sample} PRIVATE -std=c99 -pedantic-errors -Wall -Wextra $<$<BOOL:${NG_WERROR}>:-Werror>)
  set_target_properties(c_${sample} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  add_test(NAME c_${sample} COMMAND c_${sample})
endforeach()

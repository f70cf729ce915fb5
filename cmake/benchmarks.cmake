# What a launch costs the host (benchmarks/host_cost.py runs it), convolutions by tile, and what their cost model is fitted with.
if(TARGET ng_runtime)
  foreach(program host_cost conv_sweep conv_fit)
    add_executable(${program} benchmarks/${program}.cpp)
    target_link_libraries(${program} PRIVATE ng_runtime ng_flags)
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  endforeach()
endif()

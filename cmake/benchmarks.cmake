# What a launch costs the host (benchmarks/host_cost.py runs it), and convolutions by tile.
if(TARGET ng_runtime)
  foreach(program host_cost conv_sweep)
    add_executable(${program} benchmarks/${program}.cpp)
    target_link_libraries(${program} PRIVATE ng_runtime ng_flags)
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  endforeach()
endif()

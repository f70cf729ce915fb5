# What a launch costs the host (benchmarks/host_cost.py runs it), convolutions by tile, and what their cost model is fitted with.
if(TARGET ng_runtime)
  foreach(program host_cost conv_model/conv_sweep conv_model/conv_fit)
    get_filename_component(name ${program} NAME)
    add_executable(${name} benchmarks/${program}.cpp)
    target_link_libraries(${name} PRIVATE ng_runtime ng_flags)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  endforeach()
endif()

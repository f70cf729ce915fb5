# What a launch costs the host: benchmarks/host_cost.py runs it.
if(TARGET ng_runtime)
  add_executable(host_cost benchmarks/host_cost.cpp)
  target_link_libraries(host_cost PRIVATE ng_runtime ng_flags)
  set_target_properties(host_cost PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endif()

# libnervanagpu.so: the runtime, the toolchain and the embedded cubins. It exports the public API and nothing else.
add_library(ng_runtime OBJECT ${runtime_sources})
target_include_directories(ng_runtime PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/include)
target_link_libraries(ng_runtime PUBLIC ng_sass ${CMAKE_DL_LIBS} PRIVATE ng_flags)
target_compile_definitions(ng_runtime PRIVATE NG_BUILDING NG_VERSION="${PROJECT_VERSION}")
ng_embed(ng_runtime)
ng_variants(ng_runtime conv/gather/gconv conv/halo/halo conv/halo/halo_swapped conv/halo/halo_update conv/halo/resident
            conv/implicit/hconv conv/narrow/narrow conv/narrow/narrow_swapped conv/narrow/narrow_update
            gemm/tensor_cores/hgemm_resident)

add_library(nervanagpu SHARED)
add_library(nervanagpu::nervanagpu ALIAS nervanagpu)
target_sources(nervanagpu PRIVATE $<TARGET_OBJECTS:ng_runtime>)
target_compile_features(nervanagpu PUBLIC cxx_std_20)
target_include_directories(nervanagpu PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
                                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(nervanagpu PRIVATE $<BUILD_INTERFACE:ng_sass> $<BUILD_INTERFACE:ng_flags> Threads::Threads
                                         ${CMAKE_DL_LIBS})
if(TARGET ng_zstd)
  target_link_libraries(nervanagpu PRIVATE $<BUILD_INTERFACE:ng_zstd>)
endif()
# Hidden visibility covers our symbols; the map also drops the standard library's template instances.
set(exports ${CMAKE_CURRENT_SOURCE_DIR}/cmake/exports.map)
target_link_options(nervanagpu PRIVATE -Wl,--version-script=${exports} -Wl,--no-undefined-version)
if(NOT NG_SANITIZE)
  target_link_options(nervanagpu PRIVATE -Wl,-z,defs)
endif()
set_target_properties(nervanagpu PROPERTIES
  SOVERSION ${PROJECT_VERSION_MAJOR} LINK_DEPENDS ${exports} LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
if(NOT SKBUILD)  # a wheel holds no links: there the soname is the file
  set_target_properties(nervanagpu PROPERTIES VERSION ${PROJECT_VERSION})
endif()

if(NG_INSTALL)
  include(install)
endif()

# The Python module nervanagpu._core over libnervanagpu.so. In the tree, build/python is the importable package: _core
# beside links to python/nervanagpu/*. A wheel has libnervanagpu.so in lib/ (install.cmake).
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND ${Python_EXECUTABLE} -m pybind11 --cmakedir OUTPUT_VARIABLE pybind11_dir
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(pybind11_dir)
  list(PREPEND CMAKE_PREFIX_PATH ${pybind11_dir})
endif()
find_package(pybind11 2.11 CONFIG REQUIRED)

file(GLOB core_sources CONFIGURE_DEPENDS python/*.cpp python/operations/*.cpp python/tensor/*.cpp python/xla/*.cpp)
if(NOT core_sources OR NOT TARGET nervanagpu)
  return()
endif()
pybind11_add_module(_core NO_EXTRAS ${core_sources})
target_include_directories(_core PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(_core PRIVATE nervanagpu ng_flags)
target_compile_definitions(_core PRIVATE NG_VERSION="${PROJECT_VERSION}")

set(package ${CMAKE_BINARY_DIR}/python/nervanagpu)
set_target_properties(_core PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${package} INSTALL_RPATH "$ORIGIN/lib")
file(GLOB entries CONFIGURE_DEPENDS python/nervanagpu/*)
file(MAKE_DIRECTORY ${package})
foreach(entry ${entries})
  get_filename_component(name ${entry} NAME)
  file(CREATE_LINK ${entry} ${package}/${name} SYMBOLIC)
endforeach()

# The operators of nervanagpu.torch, compiled: loaded when torch is there, built without it (python/torch_ops/shim.h).
file(GLOB torch_sources CONFIGURE_DEPENDS python/torch_ops/*.cpp)
add_library(nervanagpu_torch MODULE ${torch_sources})
target_include_directories(nervanagpu_torch PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_include_directories(nervanagpu_torch SYSTEM PRIVATE ${Python_INCLUDE_DIRS})
target_link_libraries(nervanagpu_torch PRIVATE nervanagpu ng_flags ${CMAKE_DL_LIBS})
set_target_properties(nervanagpu_torch PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${package} INSTALL_RPATH "$ORIGIN/lib"
                                                  CXX_VISIBILITY_PRESET hidden)
add_dependencies(_core nervanagpu_torch)  # whoever builds the package builds all of it

if(SKBUILD)
  install(TARGETS _core nervanagpu_torch LIBRARY DESTINATION .)
endif()

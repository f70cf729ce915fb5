# ng_kernel(TEMPLATE ARCHS... [DEFINE NAME=VALUE]): assembles kernels/TEMPLATE.sass for each architecture into
# build/kernels/NAME.ARCH.cubin; only the variants with that value.
# ng_embed(TARGET): puts every cubin named so far into TARGET, with the table that src/module/embedded.h declares; compressed
# into NAME.ARCH.cubin.zst if libzstd is there (zstd.cmake).
#
# A build for another machine runs the tools of a build for this one: NG_HOST_TOOLS=DIR, where ngasm and ng_pack lie. With
# NG_HOST_KERNELS=DIR it embeds the cubins of that build, which must be whole, and assembles none.
set(NG_HOST_TOOLS "" CACHE PATH "Folder of ngasm and ng_pack that run here, where what is built does not")
set(NG_HOST_KERNELS "" CACHE PATH "Folder of the cubins of another build of the same sources")
include(zstd)
set(NG_NGASM ngasm)
set(NG_PACK ng_pack)
if(NG_HOST_TOOLS)
  set(NG_NGASM ${NG_HOST_TOOLS}/ngasm)
  set(NG_PACK ${NG_HOST_TOOLS}/ng_pack)
elseif(TARGET ng_zstd)
  add_executable(ng_pack tools/pack/pack.cpp)
  target_link_libraries(ng_pack PRIVATE ng_zstd ng_flags)
  set_target_properties(ng_pack PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endif()
set(NG_CUBIN_DIR ${CMAKE_BINARY_DIR}/kernels)
if(NG_HOST_KERNELS)
  set(NG_CUBIN_DIR ${NG_HOST_KERNELS})
endif()
define_property(GLOBAL PROPERTY NG_CUBINS BRIEF_DOCS "cubins" FULL_DOCS "every cubin that ng_kernel has named")

function(ng_kernel template)
  if(NOT TARGET ngasm)
    return()
  endif()
  cmake_parse_arguments(arg "" "DEFINE" "" ${ARGN})
  set(variants)
  if(arg_DEFINE)
    set(variants -D ${arg_DEFINE})
  endif()
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/kernels/${template}.sass)
  get_filename_component(name ${template} NAME)
  # Any template may include any snippet: a change of one re-assembles all, which takes a moment.
  file(GLOB_RECURSE snippets CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/kernels/lib/*.sass)
  foreach(arch ${arg_UNPARSED_ARGUMENTS})
    set(cubin ${NG_CUBIN_DIR}/${name}.${arch}.cubin)
    set_property(GLOBAL APPEND PROPERTY NG_CUBINS ${cubin})
    if(NG_HOST_KERNELS)
      continue()
    endif()
    add_custom_command(
      OUTPUT ${cubin}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${NG_CUBIN_DIR}
      COMMAND ${NG_NGASM} as kernels/${template}.sass -o ${cubin} -I kernels --arch ${arch} ${variants}
      WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
      DEPENDS ${NG_NGASM} ${source} ${snippets}
      COMMENT "Assembling kernels/${template}.sass for ${arch}"
      VERBATIM)
  endforeach()
endfunction()

function(ng_embed target)
  get_property(cubins GLOBAL PROPERTY NG_CUBINS)
  set(embedded)
  set(externs "")
  set(rows "")
  set(blobs "")
  set(index 0)
  foreach(cubin ${cubins})
    get_filename_component(name ${cubin} NAME_WLE)  # sgemm.sm_90a
    if(TARGET ng_zstd)
      if(NOT NG_HOST_KERNELS)
        add_custom_command(OUTPUT ${cubin}.zst COMMAND ${NG_PACK} ${cubin} ${cubin}.zst DEPENDS ${NG_PACK} ${cubin}
                           COMMENT "Compressing ${name}" VERBATIM)
      endif()
      string(APPEND cubin .zst)
    endif()
    list(APPEND embedded ${cubin})
    set(symbol ng_cubin_${index})
    string(APPEND blobs "  .balign 64\n${symbol}:\n  .incbin \"${cubin}\"\n${symbol}_end:\n"
                        "  .globl ${symbol}\n  .hidden ${symbol}\n  .globl ${symbol}_end\n  .hidden ${symbol}_end\n")
    string(APPEND externs "extern const unsigned char ${symbol}[], ${symbol}_end[];\n")
    string(APPEND rows "      {\"${name}\", ${symbol}, static_cast<std::size_t>(${symbol}_end - ${symbol})},\n")
    math(EXPR index "${index} + 1")
  endforeach()
  # @NG_...@ in the two inputs; only rewritten when they change.
  set(NG_BLOBS "${blobs}")
  set(NG_EXTERNS "${externs}")
  set(NG_ROWS "${rows}")
  set(NG_COUNT ${index})
  configure_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/cubins.S.in ${CMAKE_BINARY_DIR}/generated/cubins.S @ONLY)
  configure_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/cubins.cpp.in ${CMAKE_BINARY_DIR}/generated/cubins.cpp @ONLY)
  # .incbin is invisible to dependency scanners.
  set_source_files_properties(${CMAKE_BINARY_DIR}/generated/cubins.S PROPERTIES OBJECT_DEPENDS "${embedded}")
  target_sources(${target} PRIVATE ${CMAKE_BINARY_DIR}/generated/cubins.S ${CMAKE_BINARY_DIR}/generated/cubins.cpp)
  add_custom_target(kernels ALL DEPENDS ${cubins} ${embedded})
  add_dependencies(${target} kernels)
  if(TARGET ng_zstd)
    target_link_libraries(${target} PUBLIC ng_zstd)
  endif()
endfunction()

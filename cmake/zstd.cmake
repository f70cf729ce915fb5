# libzstd, static, for the cubins inside the library: 115 MB of them become 2.3. Debian: libzstd-dev. Target ng_zstd is
# there if it was found; NG_ZSTD says whether it must be.
set(NG_ZSTD AUTO CACHE STRING "Compress the embedded kernels: ON, OFF, or AUTO (if libzstd is there)")
if(NOT NG_ZSTD)
  return()
endif()
find_path(NG_ZSTD_INCLUDE zstd.h)
find_library(NG_ZSTD_LIBRARY NAMES libzstd.a zstd_static)
mark_as_advanced(NG_ZSTD_INCLUDE NG_ZSTD_LIBRARY)
if(NG_ZSTD_INCLUDE AND NG_ZSTD_LIBRARY)
  add_library(ng_zstd STATIC IMPORTED)
  set_target_properties(ng_zstd PROPERTIES IMPORTED_LOCATION ${NG_ZSTD_LIBRARY}
                                           INTERFACE_INCLUDE_DIRECTORIES ${NG_ZSTD_INCLUDE}
                                           INTERFACE_COMPILE_DEFINITIONS NG_ZSTD)
elseif(NG_ZSTD STREQUAL "AUTO")
  message(STATUS "libzstd (static; Debian: libzstd-dev) is missing: the kernels are embedded as they are, 115 MB")
else()
  message(FATAL_ERROR "NG_ZSTD is ${NG_ZSTD}, and libzstd.a or zstd.h is missing: install libzstd-dev, or name them with "
                      "-DNG_ZSTD_LIBRARY=FILE -DNG_ZSTD_INCLUDE=DIR")
endif()

# What every target is compiled with. Nothing here names a processor: the same sources build for x86-64 and aarch64,
# and faster paths are chosen at run time.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)  # for clang-tidy

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

find_package(Threads REQUIRED)

add_library(ng_flags INTERFACE)
target_compile_options(ng_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra>)
# The instruction table is proven by constant evaluation, which takes more steps than the compilers' defaults allow.
target_compile_options(ng_flags INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fconstexpr-ops-limit=1000000000 -fconstexpr-loop-limit=1000000>
  $<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:-fconstexpr-steps=1000000000>)
# a*b+c rounds twice unless the source says fma: the emulator's results must not depend on the host.
target_compile_options(ng_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
# A loop that clang does not vectorise as hinted is slower, not wrong.
target_compile_options(ng_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:-Wno-pass-failed>)
# g++ 12 sees overlaps that cannot be where strings are joined (GCC bug 105651); 13 does not.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(ng_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
# Nor does it know what is initialised where AddressSanitizer has been at work (GCC bug 105562: std::regex).
if(NG_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(ng_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
endif()
if(NG_WERROR)
  target_compile_options(ng_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(NG_SANITIZE)
  # Global, not in ng_flags: GoogleTest and the Python module must agree with the rest.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
if(NG_FUZZ)
  add_compile_definitions(NG_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

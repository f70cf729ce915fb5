# ng_variants(TARGET TEMPLATE...): what each kernels/TEMPLATE.sass says of its variants, for its chooser to read
# (kernels/variants.h): its .variants and outer .let lines, strings of the file build/generated/kernels/TEMPLATE.variants.inc.
#
# As a script: cmake -D FROM=TEMPLATE.sass -D TO=FILE -P variants.cmake writes that file.
if(CMAKE_SCRIPT_MODE_FILE)
  file(STRINGS ${FROM} lines REGEX "^\\.(variants|let)[ \t]")
  set(text "// Written by cmake/variants.cmake.\n")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "[ \t]*//.*$" "" line "${line}")
    string(REGEX REPLACE "[ \t]+" " " line "${line}")
    string(REGEX REPLACE "([\\\"])" "\\\\\\1" line "${line}")
    string(APPEND text "\"${line}\",\n")
  endforeach()
  file(WRITE ${TO} "${text}")
  return()
endif()

function(ng_variants target)
  set(generated ${CMAKE_BINARY_DIR}/generated)
  set(all)
  foreach(template ${ARGN})
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/kernels/${template}.sass)
    set(lines ${generated}/kernels/${template}.variants.inc)
    set(script ${CMAKE_CURRENT_SOURCE_DIR}/cmake/variants.cmake)
    add_custom_command(OUTPUT ${lines} COMMAND ${CMAKE_COMMAND} -D FROM=${source} -D TO=${lines} -P ${script}
                       DEPENDS ${source} ${script} COMMENT "Reading the variants of kernels/${template}.sass" VERBATIM)
    list(APPEND all ${lines})
  endforeach()
  target_sources(${target} PRIVATE ${all})
  add_custom_target(variant_lines DEPENDS ${all})
  target_include_directories(${target} PRIVATE ${generated})
endfunction()

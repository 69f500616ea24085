# SPDX-License-Identifier: BSD-3-Clause
# Each test of CTest is one program, bats file or check: PART/NAME, with the label PART. test/launch runs it. Those of the
# configuration Long are for `scripts/test long` and `ctest -C Long`; a file of bats may have tests of both kinds.
set(apapi_launch ${PROJECT_SOURCE_DIR}/test/launch ${PROJECT_BINARY_DIR}/tap)

# apapi_test(PART/NAME KIND [LONG] [COST seconds] [BUILD preset] [ENVIRONMENT variable=value...] COMMAND word...)
# KIND is that of test/launch. COST: of wall time, for a first run; later ones know better. BUILD: it needs
# the build of another preset.
function(apapi_test name kind)
  cmake_parse_arguments(PARSE_ARGV 2 arg "LONG" "COST;BUILD" "ENVIRONMENT;COMMAND")
  set(configuration)
  if(arg_LONG)
    set(configuration CONFIGURATIONS Long)
  endif()
  add_test(NAME ${name} ${configuration} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
           COMMAND ${apapi_launch} ${name} ${kind} ${arg_COMMAND})
  string(REGEX MATCH "^[^/]+" part ${name})
  set(labels ${part})
  if(arg_LONG)
    list(APPEND labels long)
  else()
    list(APPEND labels usual)
  endif()
  # test/launch knows hangs before this
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" SKIP_RETURN_CODE 77 TIMEOUT 3000)
  if(arg_COST)
    set_tests_properties(${name} PROPERTIES COST ${arg_COST})
  endif()
  if(arg_BUILD)
    set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED build/${arg_BUILD})
  endif()
  if(arg_ENVIRONMENT)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${arg_ENVIRONMENT}")
  endif()
endfunction()

# All files of test/PART/, with this COST, or that of the list "NAME:seconds ...".
function(apapi_bats_tests part usual_cost costs)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/test/${part}/*.bats)
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    file(STRINGS ${file} tags REGEX "^# bats (file|test)_tags=.*long")
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    set(words)
    if("${tags}" MATCHES "file_tags")
      set(words LONG)
    endif()
    set(cost ${usual_cost})
    if("${costs}" MATCHES "(^| )${name}:([0-9]+)")
      set(cost ${CMAKE_MATCH_2})
    endif()
    apapi_test(${part}/${name}.bats bats ${words} COST ${cost} COMMAND test/${part}/${name}.bats)
    if(tags AND NOT words)
      set_property(TEST ${part}/${name}.bats APPEND PROPERTY LABELS long)
    endif()
  endforeach()
endfunction()

# The build of another preset, as a test that others need (BUILD).
function(apapi_build_test preset)
  apapi_test(build/${preset} check LONG COST 1000 COMMAND cmake --workflow --preset ${preset})
  set_tests_properties(build/${preset} PROPERTIES FIXTURES_SETUP build/${preset})
endfunction()

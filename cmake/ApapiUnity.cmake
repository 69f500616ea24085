# SPDX-License-Identifier: BSD-3-Clause
# With CMAKE_UNITY_BUILD the files of a folder are compiled together, at most APAPI_UNITY_FILES at a time: a short file takes
# less time to compile than the headers that it includes. Names of one folder must differ, static ones and macros, too.
set(APAPI_UNITY_FILES 12)

# A function that a test replaces by --wrap is compiled apart from those that call it: the linker replaces it only in other
# objects. CMake itself leaves out files with options or definitions of their own.
function(apapi_compile_alone) # SOURCE...
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

function(apapi_unity_target target)
  get_target_property(type ${target} TYPE)
  get_target_property(sources ${target} SOURCES)
  get_target_property(below ${target} SOURCE_DIR)
  if(type STREQUAL "UTILITY" OR type STREQUAL "INTERFACE_LIBRARY" OR NOT sources)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${below} NORMALIZE)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(NOT DEFINED files_${folder})
      set(files_${folder} 0)
    endif()
    math(EXPR part "${files_${folder}} / ${APAPI_UNITY_FILES}")
    math(EXPR files_${folder} "${files_${folder}} + 1")
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP "${folder}_${part}")
  endforeach()
endfunction()

# For all targets in a folder and below it.
function(apapi_unity folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    apapi_unity_target(${target})
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below ${folders})
    apapi_unity(${below})
  endforeach()
endfunction()

# SPDX-License-Identifier: BSD-3-Clause
# What a program needs to build with libapapi: exported symbols, headers, a CMake package and a pkg-config file. All of
# them find the rest from where they lie, so an installed tree can be moved.
include(CMakePackageConfigHelpers)

# The symbols of core/libapapi.map, each with its version.
set(apapi_map ${PROJECT_SOURCE_DIR}/core/libapapi.map)
target_link_options(apapi PRIVATE LINKER:--version-script=${apapi_map})
set_target_properties(apapi PROPERTIES LINK_DEPENDS ${apapi_map})

apapi_install_targets(${CMAKE_INSTALL_LIBDIR} apapi apapi EXPORT apapi
                      FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT devel)

# find_package(apapi 0.1) defines Apapi::apapi. Until version 1.0 only releases of the same minor number are compatible.
set(apapi_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/apapi)
install(
  EXPORT apapi
  NAMESPACE Apapi::
  FILE apapiTargets.cmake
  DESTINATION ${apapi_package_dir}
  COMPONENT devel)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/apapiConfig.cmake.in ${PROJECT_BINARY_DIR}/apapiConfig.cmake
                              INSTALL_DESTINATION ${apapi_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/apapiConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/apapiConfig.cmake ${PROJECT_BINARY_DIR}/apapiConfigVersion.cmake
        DESTINATION ${apapi_package_dir} COMPONENT devel)

# pkg-config: the folders, and outside the system's own how the program finds the library when it runs. No other library
# is named: the headers include none, and libapapi.so itself says what it needs.
function(apapi_below_prefix result folder)
  if(IS_ABSOLUTE "${folder}")
    set(${result} "${folder}" PARENT_SCOPE)
  else()
    set(${result} "\${prefix}/${folder}" PARENT_SCOPE)
  endif()
endfunction()
apapi_below_prefix(apapi_pc_libdir "${CMAKE_INSTALL_LIBDIR}")
apapi_below_prefix(apapi_pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
file(RELATIVE_PATH apapi_prefix_from_pc "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
set(apapi_pc_rpath " -Wl,-rpath,\${libdir}")
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(apapi_pc_rpath "")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/apapi.pc.in ${PROJECT_BINARY_DIR}/apapi.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/apapi.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT devel)

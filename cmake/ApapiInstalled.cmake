# SPDX-License-Identifier: BSD-3-Clause
# Where everything lies once it is installed, for C (apapi_paths) and for text files. cmake --install --prefix may say
# something else than the configuration: programs find that out (core/config/installed.c), texts are written when
# they are installed.
set(APAPI_PLUGIN "${CMAKE_INSTALL_PREFIX}/${APAPI_PLUGIN_DIR}/spank_apapi.so")
if(IS_ABSOLUTE "${APAPI_PLUGIN_DIR}")
  set(APAPI_PLUGIN "${APAPI_PLUGIN_DIR}/spank_apapi.so")
endif()
set(apapi_paths
    APAPI_PREFIX="${CMAKE_INSTALL_PREFIX}"
    APAPI_CONFIG_DIR="${APAPI_CONFIG_DIR}"
    APAPI_ACCT_DIR="${APAPI_ACCT_DIR}"
    APAPI_SPOOL_DIR="${APAPI_SPOOL_DIR}"
    APAPI_LIBEXEC_DIR="${APAPI_LIBEXEC_DIR}"
    APAPI_DATA_DIR="${APAPI_DATA_DIR}"
    APAPI_BELOW_BIN="${CMAKE_INSTALL_BINDIR}"
    APAPI_BELOW_PLUGIN="${APAPI_PLUGIN_DIR}"
    APAPI_BELOW_CONFIG="${CMAKE_INSTALL_SYSCONFDIR}/apapi"
    APAPI_BELOW_ACCT="${CMAKE_INSTALL_LOCALSTATEDIR}/log/apapi"
    APAPI_BELOW_SPOOL="${CMAKE_INSTALL_LOCALSTATEDIR}/spool/apapi"
    APAPI_BELOW_LIBEXEC="${CMAKE_INSTALL_LIBEXECDIR}/apapi"
    APAPI_BELOW_DATA="${CMAKE_INSTALL_DATADIR}/apapi")

configure_file(${CMAKE_CURRENT_LIST_DIR}/installed.cmake.in ${PROJECT_BINARY_DIR}/installed.cmake @ONLY)

# Run commands of installed.cmake when everything is installed.
function(apapi_install_step commands)
  install(CODE "include(\"${PROJECT_BINARY_DIR}/installed.cmake\")\n${commands}" ${ARGN})
endfunction()

# install(TARGETS) of programs and libraries into a folder. While steps run, a file gets its name when it is complete: a
# process that loads half of a library is killed.
function(apapi_install_targets folder component)
  set(CMAKE_INSTALL_MESSAGE NEVER)
  apapi_install_step("apapi_install_aside(\"${folder}\")" COMPONENT ${component})
  install(TARGETS ${ARGN} RUNTIME DESTINATION ${folder} COMPONENT ${component} LIBRARY DESTINATION ${folder}
          COMPONENT ${component} NAMELINK_COMPONENT devel)
  apapi_install_step("apapi_install_aside_end()" COMPONENT ${component})
endfunction()

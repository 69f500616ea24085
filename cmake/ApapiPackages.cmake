# SPDX-License-Identifier: BSD-3-Clause
# Packages, by cpack: `scripts/package` configures a build of its own for them, with APAPI_PACKAGES, and runs cpack there.
if(NOT APAPI_PACKAGES)
  return()
endif()

set(APAPI_PACKAGE_RELEASE "1" CACHE STRING "Release of the packages of this version")
set(APAPI_PACKAGER "" CACHE STRING "Name <address> of whoever makes the packages")
set(APAPI_SLURM_PACKAGE "" CACHE STRING "Package that the plugin's package depends on, with the Slurm it is for")
set(APAPI_SUGGESTED_PACKAGES "" CACHE STRING "Debian packages of libraries that are loaded where they are installed")
set(APAPI_PLUGSTACK_DIR "/etc/slurm/plugstack.conf.d" CACHE STRING "Where the plugin's package puts its line for plugstack.conf")

# The line for plugstack.conf is a comment until the site wants it.
install(CODE "include(\"${PROJECT_BINARY_DIR}/installed.cmake\")
  file(READ \"${PROJECT_SOURCE_DIR}/config/plugstack.conf.in\" text)
  string(REPLACE \"\\noptional \" \"\\n#optional \" text \"\${text}\")
  file(WRITE \"${PROJECT_BINARY_DIR}/plugstack/apapi.conf.in\" \"\${text}\")
  apapi_install_text(\"${PROJECT_BINARY_DIR}/plugstack/apapi.conf.in\" \"${APAPI_PLUGSTACK_DIR}\")"
        COMPONENT spank)
# systemd-tmpfiles makes the folders below /run when the machine starts.
install(CODE "include(\"${PROJECT_BINARY_DIR}/installed.cmake\")
  file(READ \"${PROJECT_SOURCE_DIR}/config/tmpfiles.conf.in\" text)
  file(WRITE \"${PROJECT_BINARY_DIR}/tmpfiles/apapi.conf.in\" \"\${text}\")
  apapi_install_text(\"${PROJECT_BINARY_DIR}/tmpfiles/apapi.conf.in\" \"/usr/lib/tmpfiles.d\")"
        COMPONENT apapi)

set(CPACK_PACKAGE_NAME apapi)
set(CPACK_PACKAGE_VENDOR APAPI)
set(CPACK_PACKAGE_CONTACT "${APAPI_PACKAGER}")
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_SET_DESTDIR ON) # /etc and /var are no part of the prefix
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL apapi devel python spank energy)
set(CPACK_COMPONENT_UNSPECIFIED_HIDDEN ON)
set(CPACK_COMPONENT_APAPI_DESCRIPTION "Energy and power of Slurm job steps: programs and library
Measures the energy of every Slurm job step with the machine's own counters
(CPUs, memory, GPUs, BMC), reports it when the step ends, and keeps one line
of JSON for each step and node. The commands atime and apapi work without
Slurm, too.")
set(CPACK_COMPONENT_DEVEL_DESCRIPTION "Energy and power of Slurm job steps: files for developers
Headers, CMake package and pkg-config file of libapapi, by which programs
measure and read records.")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "Energy and power of Slurm job steps: Python package
Records as an iterator or a frame of pandas, live pages, regions of Python
programs, pictures for notebooks.")
set(CPACK_COMPONENT_SPANK_DESCRIPTION "Energy and power of Slurm job steps: plugin for Slurm
The plugin by which srun, sbatch and salloc know --apapi, and apapi-sync,
which writes energies into Slurm's accounting. It does nothing until its line
in plugstack.conf is activated.")
set(CPACK_COMPONENT_ENERGY_DESCRIPTION "Energy and power of Slurm job steps: Slurm's energy plugin
With AcctGatherEnergyType=acct_gather_energy/apapi, sacct, sstat, sreport and
scontrol show what APAPI measures: packages, memory and GPUs, or the BMC. For
exactly one version of Slurm.")
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/package_tree.cmake)

# --- .deb ---------------------------------------------------------------------------------------------------

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${APAPI_PACKAGE_RELEASE})
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/core)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_APAPI_PACKAGE_NAME apapi)
set(CPACK_DEBIAN_APAPI_PACKAGE_SECTION utils)
string(JOIN ", " CPACK_DEBIAN_APAPI_PACKAGE_SUGGESTS ${APAPI_SUGGESTED_PACKAGES})
set(CPACK_DEBIAN_DEVEL_PACKAGE_NAME apapi-devel)
set(CPACK_DEBIAN_DEVEL_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVEL_PACKAGE_DEPENDS "apapi (= ${PROJECT_VERSION}-${APAPI_PACKAGE_RELEASE})")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-apapi)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.9), apapi (>= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS python3-pandas)
set(CPACK_DEBIAN_SPANK_PACKAGE_NAME slurm-spank-apapi)
set(CPACK_DEBIAN_SPANK_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_SPANK_PACKAGE_DEPENDS "apapi (>= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_ENERGY_PACKAGE_NAME slurm-acct-energy-apapi)
set(CPACK_DEBIAN_ENERGY_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_ENERGY_PACKAGE_DEPENDS "apapi (>= ${PROJECT_VERSION})")
set(apapi_needs_slurm_rpm "")
set(apapi_needs_exact_slurm_rpm "")
if(APAPI_SLURM_PACKAGE)
  get_directory_property(apapi_slurm DIRECTORY spank_apapi DEFINITION Slurm_VERSION)
  # slurmd does not start with an energy plugin that was built for another version, even for another micro
  string(APPEND CPACK_DEBIAN_ENERGY_PACKAGE_DEPENDS
         ", ${APAPI_SLURM_PACKAGE} (>= ${apapi_slurm}), ${APAPI_SLURM_PACKAGE} (<< ${apapi_slurm}.99)")
  set(apapi_needs_exact_slurm_rpm ", slurm >= ${apapi_slurm}, slurm < ${apapi_slurm}.99")
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" apapi_slurm "${apapi_slurm}")
  string(APPEND CPACK_DEBIAN_SPANK_PACKAGE_DEPENDS
         ", ${APAPI_SLURM_PACKAGE} (>= ${apapi_slurm}), ${APAPI_SLURM_PACKAGE} (<< ${apapi_slurm}.99)")
  set(apapi_needs_slurm_rpm ", slurm >= ${apapi_slurm}, slurm < ${apapi_slurm}.99")
endif()
foreach(component APAPI DEVEL PYTHON SPANK ENERGY)
  string(TOLOWER ${component} folder)
  file(GLOB files ${PROJECT_SOURCE_DIR}/config/package/${folder}/*)
  set(CPACK_DEBIAN_${component}_PACKAGE_CONTROL_EXTRA ${files})
endforeach()

# --- .rpm ---------------------------------------------------------------------------------------------------

set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_RELEASE ${APAPI_PACKAGE_RELEASE})
set(CPACK_RPM_PACKAGE_LICENSE BSD-3-Clause)
set(CPACK_RPM_PACKAGE_GROUP "System Environment/Base")
set(CPACK_RPM_APAPI_PACKAGE_NAME apapi)
set(CPACK_RPM_DEVEL_PACKAGE_NAME apapi-devel)
set(CPACK_RPM_DEVEL_PACKAGE_REQUIRES "apapi = ${PROJECT_VERSION}-${APAPI_PACKAGE_RELEASE}")
set(CPACK_RPM_PYTHON_PACKAGE_NAME python3-apapi)
set(CPACK_RPM_PYTHON_PACKAGE_ARCHITECTURE noarch)
set(CPACK_RPM_PYTHON_PACKAGE_REQUIRES "python3 >= 3.9, apapi >= ${PROJECT_VERSION}")
set(CPACK_RPM_SPANK_PACKAGE_NAME slurm-spank-apapi)
set(CPACK_RPM_SPANK_PACKAGE_REQUIRES "apapi >= ${PROJECT_VERSION}${apapi_needs_slurm_rpm}")
set(CPACK_RPM_ENERGY_PACKAGE_NAME slurm-acct-energy-apapi)
set(CPACK_RPM_ENERGY_PACKAGE_REQUIRES "apapi >= ${PROJECT_VERSION}${apapi_needs_exact_slurm_rpm}")
if(Slurm_ROOT) # its libslurm is of no package
  set(CPACK_RPM_SPEC_MORE_DEFINE "%global __requires_exclude ^libslurm[.]so")
endif()
cmake_path(GET APAPI_PYTHON_DIR PARENT_PATH apapi_python_above)
# Folders of other packages.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
    /etc /etc/slurm ${APAPI_PLUGSTACK_DIR} /usr/${CMAKE_INSTALL_LIBDIR} /usr/${CMAKE_INSTALL_LIBDIR}/cmake
    /usr/${CMAKE_INSTALL_LIBDIR}/pkgconfig /usr/${APAPI_PLUGIN_DIR} /usr/${apapi_python_above} /usr/${APAPI_PYTHON_DIR} /usr/lib/tmpfiles.d /usr/libexec /var /var/log /var/spool
    /usr/share/man /usr/share/man/man1 /usr/share/man/man3 /usr/share/man/man5 /usr/share/man/man8)
foreach(component APAPI DEVEL PYTHON SPANK ENERGY)
  string(TOLOWER ${component} folder)
  set(conffiles ${PROJECT_SOURCE_DIR}/config/package/${folder}/conffiles)
  if(EXISTS ${conffiles})
    file(STRINGS ${conffiles} files)
    list(TRANSFORM files PREPEND "%config(noreplace) ")
    set(CPACK_RPM_${component}_USER_FILELIST ${files})
  endif()
  foreach(script postinst:POST_INSTALL postrm:POST_UNINSTALL)
    string(REGEX MATCH "^[a-z]+" name ${script})
    string(REGEX MATCH "[A-Z_]+$" hook ${script})
    set(file ${PROJECT_SOURCE_DIR}/config/package/${folder}/${name})
    if(EXISTS ${file})
      set(CPACK_RPM_${component}_${hook}_SCRIPT_FILE ${file})
    endif()
  endforeach()
endforeach()

# --- .tar.gz: everything, to be unpacked at / ---------------------------------------------------------------

set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_INCLUDE_TOPLEVEL_DIRECTORY OFF)
set(CPACK_PACKAGE_FILE_NAME apapi-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR})

include(CPack)

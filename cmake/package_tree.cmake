# SPDX-License-Identifier: BSD-3-Clause
# Run by cpack between installing and packing: what every package has, and compressed manual pages.
# A tree for each component, or one for all.
file(GLOB trees LIST_DIRECTORIES true "${CPACK_TEMPORARY_DIRECTORY}/*")
list(APPEND trees "${CPACK_TEMPORARY_DIRECTORY}")

# @return in `name` the package of a component; "" if it is none
function(package_name component name)
  string(TOUPPER "${component}" component)
  set(${name} "${CPACK_DEBIAN_${component}_PACKAGE_NAME}" PARENT_SCOPE)
endfunction()

# Debian wants both in each package.
function(add_debian_documents tree name)
  set(folder "${tree}/usr/share/doc/${name}")
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  configure_file("${CPACK_RESOURCE_FILE_LICENSE}" "${folder}/copyright" COPYONLY)
  file(WRITE "${folder}/changelog.Debian" "apapi (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Version ${CPACK_PACKAGE_VERSION}: CHANGELOG.md in the sources says what is new.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  execute_process(COMMAND gzip -9nf "${folder}/changelog.Debian" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

foreach(tree ${trees})
  if(NOT IS_DIRECTORY "${tree}")
    continue()
  endif()
  file(GLOB_RECURSE pages "${tree}/usr/share/man/*.[1-8]")
  if(pages)
    execute_process(COMMAND gzip -9nf ${pages} COMMAND_ERROR_IS_FATAL ANY)
  endif()
  get_filename_component(component "${tree}" NAME)
  package_name("${component}" name)
  if(CPACK_GENERATOR STREQUAL DEB AND name)
    add_debian_documents("${tree}" "${name}")
  endif()
endforeach()

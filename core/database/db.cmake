# SPDX-License-Identifier: BSD-3-Clause
# Databases of records, for programs: SQLite is linked; MariaDB's client library is loaded when it is
# asked for, by the name that programs linked to it would use.
apapi_optional_soname(mariadb_soname MARIADB mariadb "Import into MariaDB")
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)

add_library(
  apapi_db STATIC
  ${CMAKE_CURRENT_LIST_DIR}/db.c
  ${CMAKE_CURRENT_LIST_DIR}/db_batch.c
  ${CMAKE_CURRENT_LIST_DIR}/db_load.c
  ${CMAKE_CURRENT_LIST_DIR}/db_load_jobs.c
  ${CMAKE_CURRENT_LIST_DIR}/db_member.c
  ${CMAKE_CURRENT_LIST_DIR}/db_read.c
  ${CMAKE_CURRENT_LIST_DIR}/db_row.c
  ${CMAKE_CURRENT_LIST_DIR}/db_sqlite.c
  ${CMAKE_CURRENT_LIST_DIR}/db_tables.c
  ${CMAKE_CURRENT_LIST_DIR}/db_url.c
  ${CMAKE_CURRENT_LIST_DIR}/db_value.c)
if(mariadb_soname)
  target_sources(
    apapi_db PRIVATE ${CMAKE_CURRENT_LIST_DIR}/db_mariadb.c
                     ${CMAKE_CURRENT_LIST_DIR}/db_mariadb_library.c)
  target_compile_definitions(apapi_db PRIVATE APAPI_MARIADB_LIBRARY="${mariadb_soname}")
  target_include_directories(apapi_db SYSTEM PRIVATE ${MARIADB_INCLUDE_DIRS})
else()
  target_sources(apapi_db PRIVATE ${CMAKE_CURRENT_LIST_DIR}/db_no_mariadb.c)
endif()
target_link_libraries(apapi_db PRIVATE apapi_flags PkgConfig::SQLITE ${CMAKE_DL_LIBS} PUBLIC apapi_base)

# SPDX-License-Identifier: BSD-3-Clause
# Databases of records, for programs: SQLite is linked; the client libraries of MariaDB and PostgreSQL are loaded when they
# are asked for, by the names that programs linked to them would use.
apapi_optional_soname(mariadb_soname MARIADB mariadb "Import into MariaDB")
apapi_optional_soname(postgres_soname POSTGRES pq "Import into PostgreSQL")
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)

add_library(
  apapi_index STATIC
  ${CMAKE_CURRENT_LIST_DIR}/db.c
  ${CMAKE_CURRENT_LIST_DIR}/load.c
  ${CMAKE_CURRENT_LIST_DIR}/own.c
  ${CMAKE_CURRENT_LIST_DIR}/select.c
  ${CMAKE_CURRENT_LIST_DIR}/sqlite.c
  ${CMAKE_CURRENT_LIST_DIR}/tables.c)
if(mariadb_soname)
  target_sources(apapi_index PRIVATE ${CMAKE_CURRENT_LIST_DIR}/mariadb.c)
  target_compile_definitions(apapi_index PRIVATE APAPI_MARIADB_LIBRARY="${mariadb_soname}")
  target_include_directories(apapi_index SYSTEM PRIVATE ${MARIADB_INCLUDE_DIRS})
endif()
if(postgres_soname)
  target_sources(apapi_index PRIVATE ${CMAKE_CURRENT_LIST_DIR}/postgres.c)
  target_compile_definitions(apapi_index PRIVATE APAPI_POSTGRES_LIBRARY="${postgres_soname}")
  target_include_directories(apapi_index SYSTEM PRIVATE ${POSTGRES_INCLUDE_DIRS})
endif()
target_link_libraries(apapi_index PRIVATE apapi_flags PkgConfig::SQLITE ${CMAKE_DL_LIBS} PUBLIC apapi_base)

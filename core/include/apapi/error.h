/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_ERROR_H
#define APAPI_ERROR_H

/*
 * Begin and end the declarations of a public header, which C++ programs include, too. Some
 * functions have the name of a structure, as stat(2) has: -Wshadow of g++ would warn of these.
 */
#ifdef __cplusplus
#define APAPI_BEGIN_C                                                                              \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wshadow\"") extern "C"       \
    {
#define APAPI_END_C                                                                                \
    }                                                                                              \
    _Pragma("GCC diagnostic pop")
#else
#define APAPI_BEGIN_C
#define APAPI_END_C
#endif

APAPI_BEGIN_C

/*
 * Functions that can fail return -1 or NULL and set errno. Most of them take a struct apapi_error
 * as last argument, which gets the reason in words; NULL is allowed there. Results are set only on
 * success.
 */

/** Marks what libapapi exports. */
#define APAPI_API __attribute__((visibility("default")))

/** The reason of a failure, in words for a person. The caller owns it. */
struct apapi_error {
    char text[256]; /* one line, in UTF-8, ends with a NUL */
};

/**
 * Fill `err`, which may be NULL, as printf(3) does, and set errno. Any thread; does not allocate.
 * @param code  the errno to set, > 0
 * @return -1, so that a function can end with `return apapi_fail(err, EINVAL, "...")`
 */
APAPI_API int apapi_fail(struct apapi_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

APAPI_END_C
#endif

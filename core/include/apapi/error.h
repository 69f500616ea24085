/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_ERROR_H
#define APAPI_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/** Marks what libapapi exports. Everything else stays inside the library. */
#define APAPI_API __attribute__((visibility("default")))

/** What went wrong, in words for a person. Lives on the caller's stack. */
struct apapi_error {
    char text[256];
};

/**
 * Fill `err` (NULL is allowed) and set errno.
 * @param code  the errno to set, > 0
 * @return -1, so that callers can write `return apapi_fail(err, EINVAL, "...")`.
 * Thread-safety: any thread. Does not allocate.
 */
APAPI_API int apapi_fail(struct apapi_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#ifdef __cplusplus
}
#endif
#endif

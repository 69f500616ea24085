/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_NAMES_H
#define SESSION_NAMES_H
#include <stddef.h>

#include "apapi/error.h"
#include "apapi/interval.h"

#define NAMES_MAX 32

/** Names of components, each once, in the order in which they were given. */
struct names {
    size_t count;
    char name[NAMES_MAX][APAPI_COMPONENT_SIZE];
};

/** Split "rapl:nvml". 0; -1 with errno EINVAL. */
int names_parse(const char *list, struct names *names, struct apapi_error *err);

/** 0; -1 with errno ENOENT: no source knows one of them. */
int names_check(const struct names *names, struct apapi_error *err);

#endif

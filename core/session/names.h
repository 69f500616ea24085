/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_NAMES_H
#define SESSION_NAMES_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/error.h"
#include "apapi/interval.h"

#define NAMES_MAX 32

/** Names of components, each once, in the order in which they were given. */
struct names {
    size_t count;
    char name[NAMES_MAX][APAPI_COMPONENT_SIZE];
};

/** @return whether a list is "all": every component that can be measured, but estimates. */
bool names_mean_all(const char *list);

/** Split "rapl:nvml", or take "all". 0; -1 with errno EINVAL. */
int names_parse(const char *list, struct names *names, struct apapi_error *err);

/** 0; -1 with errno ENOENT: no source knows one of them. */
int names_check(const struct names *names, struct apapi_error *err);

#endif

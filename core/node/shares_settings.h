/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_SHARES_SETTINGS_H
#define NODE_SHARES_SETTINGS_H
#include "config/settings.h"

/** Where the shares of a node are kept. */
struct node_shares_settings {
    const struct config *config;                       /* borrowed: outlives the shares */
    const char *node;                                  /* borrowed */
    int folder;                                        /* <live_dir>/<node>, borrowed */
    void (*say)(int priority, const char *format, ...) /* to the system's log */
        __attribute__((format(printf, 2, 3)));
};

#endif

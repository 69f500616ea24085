/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ACCT_GATHER_NODE_OPTION_H
#define ACCT_GATHER_NODE_OPTION_H
#include <stdbool.h>
#include <stddef.h>

/**
 * Find the name that slurmd was given with -N: "-N n1", "-Nn1", or in a word with further letters,
 * "-DvN n1".
 * @param words   the command line, as in /proc/PID/cmdline, and a NUL after it
 * @param length  of it, without that NUL [bytes]
 * @param node    result; cut to `size`. Changed on success only
 * @return whether there is one
 */
bool node_option_find(const char *words, size_t length, char *node, size_t size);

#endif

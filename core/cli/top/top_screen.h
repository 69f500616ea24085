/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_TOP_SCREEN_H
#define APAPI_TOP_SCREEN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A terminal as a screen: the alternate one, without cursor and echo, keys as they are pressed.
 * There is one. It is given back by screen_close(), by exit(), while the process is stopped, and
 * before a signal ends it.
 */

/** What has come. */
enum screen_event { SCREEN_TIME, SCREEN_KEY, SCREEN_CHANGED, SCREEN_QUIT };

/** @return whether standard output is a terminal that can be one. */
bool screen_is_possible(void);

/** Take the terminal. */
void screen_open(void);

/** Give it back. More than once is allowed. */
void screen_close(void);

/** @return columns of the terminal, and its rows. */
size_t screen_size(size_t *rows);

/** Show lines of text; those that the screen has no room for are counted in its last one. */
void screen_show(const char *text);

/**
 * Wait.
 * @param until_ns  CLOCK_MONOTONIC
 * @param key       set with SCREEN_KEY
 * @return SCREEN_CHANGED: to be shown again, as the window has changed or the process went on;
 *         SCREEN_QUIT: Ctrl-C, or the terminal is gone. Another signal that ends the process does
 *         so in here.
 */
enum screen_event screen_wait(uint64_t until_ns, char *key);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_TOP_SCREEN_H
#define APAPI_TOP_SCREEN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A terminal as a screen: the alternate buffer without cursor and echo; keys are read when pressed.
 * There is only one. The terminal is restored by screen_close(), by exit(), while the process is
 * stopped, and before a signal ends it.
 */

/** An event of the terminal. */
enum screen_event { SCREEN_TIME, SCREEN_KEY, SCREEN_CHANGED, SCREEN_QUIT };

/** @return whether standard output is a terminal that can be used. */
bool screen_is_possible(void);

/** Set up the terminal. */
void screen_open(void);

/** Restore the terminal. May be called more than once. */
void screen_close(void);

/** @return columns of the terminal, and its rows. */
size_t screen_size(size_t *rows);

/** Show lines of text. If they do not fit, the last line shows how many are missing. */
void screen_show(const char *text);

/**
 * Wait for an event.
 * @param until_ns  CLOCK_MONOTONIC
 * @param key       set with SCREEN_KEY
 * @return SCREEN_CHANGED: redraw, as the window has changed or the process was continued;
 * SCREEN_QUIT: Ctrl-C, or the terminal is gone. Other fatal signals end the process in here.
 */
enum screen_event screen_wait(uint64_t until_ns, char *key);

#endif

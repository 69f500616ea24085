/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHANNEL_MESSAGE_H
#define CHANNEL_MESSAGE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel/channel.h"

/* Messages between the plugin and its helper processes. Compiled into the plugin: libc only. */

#define MESSAGE_TEXT_MAX (16U << 20) /* bytes of a text that is sent in parts */

/**
 * NUL-terminated texts, one after the other. Too big for a small stack: make it static.
 */
struct message {
    size_t length; /* bytes in use */
    bool overflow; /* a text did not fit: the message cannot be sent */
    char bytes[APAPI_MESSAGE_MAX];
};

/** Begin a message with its word. */
void message_start(struct message *message, const char *word);

void message_add_text(struct message *message, const char *text);

/** Append a key and its value. Appends nothing if the value is NULL (not known). */
void message_add_pair(struct message *message, const char *key, const char *value);

/** Append key and number. */
void message_add_number(struct message *message, const char *key, uint64_t value);

/**
 * Send to a channel. Never raises SIGPIPE.
 * @return 0; -1 with errno EMSGSIZE (too long), ETIMEDOUT, EPIPE (the other side has ended) or that
 * of send().
 */
int message_send(int channel, const struct message *message, uint64_t deadline_ns);

/**
 * Receive from a channel.
 * @param message  result; undefined on error
 * @return 0; -1 with errno ETIMEDOUT, EPIPE (end of file), EBADMSG (not a message) or that of
 * recv().
 */
int message_receive(int channel, struct message *message, uint64_t deadline_ns);

/**
 * Send a word with a text of any length, in as many messages as needed.
 * @param message  buffer for the messages
 * @return 0; -1 as message_send().
 */
int message_send_text(int channel, struct message *message, const char *word, const char *text,
                      uint64_t deadline_ns);

/**
 * Receive what message_send() or message_send_text() sent.
 * @param message  result: the last message, which starts with the word; undefined on error
 * @param text     result, set on success only: the whole text after the word; free it with free()
 * @return 0; -1 as message_receive(); EBADMSG also for more than MESSAGE_TEXT_MAX bytes; ENOMEM.
 */
int message_receive_text(int channel, struct message *message, char **text, uint64_t deadline_ns);

/** @return whether the message's first text is `word`. */
bool message_is(const struct message *message, const char *word);

/** @return the text after the word, or "". Valid as long as the message. */
const char *message_text(const struct message *message);

/** @return the value of a key, or NULL. Valid as long as the message. */
const char *message_value(const struct message *message, const char *key);

/** @return the value of a key as a number; 0: it has none. */
uint64_t message_number(const struct message *message, const char *key);

#endif

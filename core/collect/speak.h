/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_COLLECT_SPEAK_H
#define APAPI_COLLECT_SPEAK_H

/** srun's standard error, while the step runs. A line that would have to wait is dropped. */
struct speaker {
    int fd; /* -1: it is not used */
};

/** Open descriptor 2 in a way that never blocks. */
void speak_begin(struct speaker *speaker);

/** Write "apapi: " and a line. */
void speak(const struct speaker *speaker, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Close it, and descriptor 2: who reads it may wait for its end. */
void speak_end(struct speaker *speaker);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Histories in simulated time: whole sessions without threads and without waiting, judged by an
 * oracle that knows the true power. See docs/developing.md.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/judge.h"

#define NAMED_MAX 200 /* failing histories whose seeds are printed */
#define MANY 10000    /* of so many histories, at least one figure of a kind ... */
#define SOME 100      /* ... that has so many figures should be outside */

static const char usage[] =
    "usage: histories [--seed A[..B]]\n"
    "Play the histories of the seeds A to B, by default 1..100000 and those in which\n"
    "something was found before.\n";

/* Histories in which a defect was found, which is mended. They are played before all others. */
static const uint64_t seeds[] = {
    20313, /* the first reading failed, and the first energy that a threshold saw was no longer 0 */
    50658, /* the same, when that reading was doubted */
    33143, /* a counter of doubles that moved once and stood still at the end had counted nothing */
    12678, /* the first readings of a counter were out of its range, and became its baseline */
    13402, /* the same: there was energy without two good readings */
    1077869, /* a standstill hid a wrap, and was not flagged */
    17766,   /* a stop of 3 s within the first reading hid wraps, and was not flagged */
    238617,  /* a leap after an outage was taken for what a counter had missed */
    317428,  /* the oracle was wrong by one update of the counter: it may have wrapped unseen */
    4031514, /* uncovered time was weighed with a mean that was too small */
    8987921, /* the same, when a source came back with nearly the same value */
    587176,  /* the last reading, which began a segment, was counted as covered */
    699004,  /* what a late counter showed may have been a leap, and the time was covered */
    1090583, /* a counter that stood still and wrapped was taken for one that had restarted */
    256415,  /* the same nonsense of a counter of doubles, again and again, was covered time */
    1296394, /* a reset after a standstill was taken for a counter that had passed its end */
    1090444, /* a pause between readings was taken for an update period, and made gaps */
    367,     /* a snapshot refused a reading that the next one would have explained */
    1174,    /* the same again */
};

struct options {
    uint64_t first, last;
    bool seeds; /* also the seeds of the table */
    uint64_t played, failed, steps;
};

static int parse_seeds(const char *text, struct options *options)
{
    char *end;

    errno = 0;
    options->seeds = false;
    options->first = options->last = strtoull(text, &end, 10);
    if (strncmp(end, "..", 2) == 0) {
        options->last = strtoull(end + 2, &end, 10);
    }
    return errno || *end || end == text || options->last < options->first ? -1 : 0;
}

static void play_one(struct options *options, uint64_t seed)
{
    static struct play play;
    bool good = play_history(&play, seed);

    options->played++;
    options->failed += !good;
    options->steps += play.clock.steps;
    if (!good && options->failed <= NAMED_MAX) {
        printf("seed %" PRIu64 ": %s\n", seed, play.failure);
    }
}

/* Report kinds with no figure outside: a kind that is mended must be removed from the list. */
static int tell_kinds(const struct options *options)
{
    int unexpected = 0;

    for (int kind = 0; kind < KINDS; kind++) {
        const struct kind_count *count = &kind_counts[kind];

        printf("known: %s: %" PRIu64 " of %" PRIu64 " figures outside\n", kind_names[kind],
               count->outside, count->judged);
        if (options->played >= MANY && count->judged >= SOME && count->outside == 0) {
            printf("  none is: it has been mended, take it off the list in test/history/judge.c\n");
            unexpected++;
        }
    }
    return unexpected;
}

int main(int argc, char **argv)
{
    struct options options = {.first = 1, .last = 100000, .seeds = true};

    if (argc != 1 &&
        (argc != 3 || strcmp(argv[1], "--seed") != 0 || parse_seeds(argv[2], &options))) {
        fputs(usage, stderr);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; options.seeds && i < sizeof seeds / sizeof *seeds; i++) {
        play_one(&options, seeds[i]);
    }
    for (uint64_t seed = options.first; seed <= options.last; seed++) {
        play_one(&options, seed);
    }
    printf("%" PRIu64 " histories, %" PRIu64 " failed; %" PRIu64 " steps of workers\n",
           options.played, options.failed, options.steps);
    printf("%" PRIu64 " calls told of %" PRIu64 " crossings; %" PRIu64 " of levels counted twice\n",
           crossings_told, crossings_counted, crossings_levels_judged);
    if (options.steps == 0) {
        puts("no worker has made a step: the program does not test the session");
    }
    if (options.played >= MANY && (crossings_told == 0 || crossings_levels_judged == 0)) {
        puts("no handler was called: the program does not test thresholds");
        options.failed++;
    }
    return tell_kinds(&options) || options.failed || options.steps == 0 ? EXIT_FAILURE
                                                                        : EXIT_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VERIFY_PLAY_H
#define VERIFY_PLAY_H
#include "verify/ensembles.h"
#include "verify/tally.h"

/** Which runs to play, and how. */
struct play {
    uint64_t runs;        /* of each ensemble */
    uint64_t seed;        /* of the first run */
    uint64_t interval_ns; /* between readings; 0: what the runs want */
    bool real;            /* in real time */
    bool each;            /* print each run to standard output */
    bool wrong;           /* print those that are wrong, although no flag says so */
};

/** Play the runs of an ensemble. @return 0; -1 with errno and `err`: one could not be played. */
int play_ensemble(const struct play *play, const struct ensemble *ensemble, struct tally *tally,
                  struct apapi_error *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HISTORY_JUDGE_OUTPUTS_H
#define HISTORY_JUDGE_OUTPUTS_H
#include "history/play.h"

/** A measurement is the same when it has been a record. */
void judge_record(struct play *play, const struct apapi_measurement *m);

/** After a stop: the live page has the run's figures. */
void judge_page(struct play *play);

/** A snapshot has no more than the whole run. */
void judge_growth(struct play *play, const struct apapi_measurement *m);

#endif

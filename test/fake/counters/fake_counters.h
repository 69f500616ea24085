/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FAKE_COUNTERS_H
#define FAKE_COUNTERS_H

/*
 * A stand-in for libpapi.so, version 7.1, as far as regions use it. Component perf_event has
 * perf::TASK-CLOCK, PAPI_TOT_INS, PAPI_VEC_DP, PAPI_SP_OPS and EXTRA, of which four at most can be
 * counted together, more with multiplexing; component fake has fake:::steps and fake:::power.
 * Component other is for other programs: fake_counters_disabled() says that it was switched off.
 *
 * A thread's counter of event number N (from 0, in this order) goes up by 10 x (N + 1) with each of
 * the thread's readings of its set. fake:::power is always 42. FAKE_COUNTERS_FAIL=READINGS:
 * readings after so many fail.
 */

/** @return whether a component has been disabled before PAPI's start. */
int fake_counters_disabled(const char *component);

/** @return the number of sets that there are. */
int fake_counters_sets(const char *nothing);

#endif

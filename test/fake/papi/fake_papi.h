/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FAKE_PAPI_H
#define FAKE_PAPI_H

/*
 * A stand-in for libpapi.so: exports what APAPI looks up, for programs that load it by
 * APAPI_PAPI_LIBRARY. Its components:
 *   quitter   calls exit(127) at every second reading, after a line on standard error
 *   starter   calls exit(126) at its start
 *   stopper   calls exit(125) at its stop, every second time
 *   talker    prints on standard output and error whenever it is called
 *   late      has its event once it is asked for the first one
 *   absent    likewise, but then finds nothing: "no such hardware"
 *   denied    disabled: "Can't open /dev/fake: Permission denied"
 *   eventless active, without any event
 *   opener    keeps a descriptor open that is not close-on-exec
 * and one for each that the file in FAKE_PAPI_EVENTS has events of: each line's first field, as in
 * an event definition file. Event number N (from 0) of the file yields, T s after PAPI's start,
 *   *POWER*  (20 + N) W + 1 W/s x T, in uW       *TEMP*  40 + N % 10
 *   *TIME*   1000 x T                            other   N + 1
 * Whoever looks for events in a thread that PAPI does not know is aborted; PAPI 7 crashes there.
 */

/** @return how often a component has been initialized. */
int fake_papi_starts(const char *component);

#endif

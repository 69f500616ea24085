/* SPDX-License-Identifier: BSD-3-Clause */
/* Tries a way to read a component, in a process of its own: two readings show whether an event is a
 * working meter. Knows what would help. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "cli/doctor/examine.h"

/* --- two readings of an event --- */

#define COLDEST_C (-60.0)
#define HOTTEST_C 200.0

static enum evaluation implausible(char *text, size_t size, double value, const char *unit)
{
    char quantity[UNITS_SIZE];

    units_quantity(quantity, sizeof quantity, value, unit);
    snprintf(text, size, "implausible: %s", quantity);
    return EVENT_IMPLAUSIBLE;
}

static enum evaluation evaluate_power(const struct apapi_event *event, double power_w, char *text,
                                      size_t size)
{
    if (power_w > 0 && power_w <= apapi_domain_max_w(event->domain)) {
        return EVENT_FINE;
    }
    return implausible(text, size, power_w, "W");
}

static enum evaluation evaluate_energy(const struct apapi_event *event,
                                       const struct two_readings *readings, char *text, size_t size)
{
    double energy_j = apapi_event_value(event, readings->after.raw) -
                      apapi_event_value(event, readings->before.raw);

    if (energy_j == 0) {
        snprintf(text, size, "opens but never moves: dead");
        return EVENT_DEAD;
    }
    if (energy_j < 0 && event->range_max > 0) {
        energy_j += ((double)event->range_max + 1) * event->scale;
    }
    if (energy_j < 0) {
        snprintf(text, size, "goes backwards");
        return EVENT_IMPLAUSIBLE;
    }
    return evaluate_power(event, energy_j / readings->elapsed_s, text, size);
}

enum evaluation evaluate_event(const struct apapi_event *event, const struct two_readings *readings,
                               char *text, size_t size)
{
    const struct apapi_reading *after = &readings->after;
    double value = apapi_event_value(event, after->raw);
    bool good;

    if (readings->before.error || after->error) {
        snprintf(text, size, "%s", strerror(after->error ? after->error : readings->before.error));
        return EVENT_IMPLAUSIBLE;
    }
    if (event->type == APAPI_TYPE_UINT64 && event->range_max > 0 && after->raw > event->range_max) {
        snprintf(text, size, "implausible: above its own range");
        return EVENT_IMPLAUSIBLE;
    }
    if (event->kind == APAPI_KIND_ENERGY && event->accumulates) {
        return evaluate_energy(event, readings, text, size);
    }
    if (event->kind == APAPI_KIND_POWER && !event->accumulates) {
        return evaluate_power(event, value, text, size);
    }
    good = event->kind == APAPI_KIND_TEMPERATURE ? value > COLDEST_C && value < HOTTEST_C
                                                 : isfinite(value);
    return good ? EVENT_FINE : implausible(text, size, value, event->unit);
}

/* --- a way, in a process of its own --- */

#define PAUSE_NS (NS_PER_S / 10)
#define PATIENCE_NS NS_PER_S /* after that, a counter that stands still is dead */
#define LONGEST_PAUSE_NS (UINT64_C(5) * NS_PER_S)
#define NOBODY 65534
#define LIMIT_S 30

/* Two readings of all events. */
struct twice {
    const struct apapi_reader *reader;
    struct apapi_reading *before;
    struct apapi_reading *after;
    double elapsed_s;
};

static enum evaluation evaluate(const struct twice *twice, size_t index, char *text, size_t size)
{
    const struct two_readings readings = {twice->before[index], twice->after[index],
                                          twice->elapsed_s};

    return evaluate_event(&twice->reader->events[index], &readings, text, size);
}

static bool all_move(const struct twice *twice)
{
    char text[sizeof((struct trouble *)0)->text];

    for (size_t i = 0; i < twice->reader->count; i++) {
        if (evaluate(twice, i, text, sizeof text) == EVENT_DEAD) {
            return false;
        }
    }
    return true;
}

/* Read twice, with more time in between while some counter has not moved. */
static void read_twice(struct apapi_reader *reader, struct twice *twice)
{
    uint64_t pause_ns = PAUSE_NS, start_ns, elapsed_ns;
    struct timespec pause;

    for (size_t i = 0; i < reader->count; i++) { /* two updates of the slowest */
        uint64_t two_ns = 2 * reader->events[i].update_ns;

        pause_ns = two_ns > pause_ns ? two_ns : pause_ns;
    }
    pause_ns = pause_ns < LONGEST_PAUSE_NS ? pause_ns : LONGEST_PAUSE_NS;
    pause = (struct timespec){(time_t)(pause_ns / NS_PER_S), (long)(pause_ns % NS_PER_S)};
    apapi_catalog_read(reader, twice->before);
    start_ns = clock_monotonic_ns();
    do {
        nanosleep(&pause, NULL);
        apapi_catalog_read(reader, twice->after);
        elapsed_ns = clock_monotonic_ns() - start_ns;
        twice->elapsed_s = (double)elapsed_ns / NS_PER_S;
    } while (elapsed_ns < PATIENCE_NS && !all_move(twice));
}

static void evaluate_all(struct apapi_reader *reader, struct finding *finding)
{
    struct twice twice = {.reader = reader,
                          .before = calloc(reader->count + 1, sizeof *twice.before),
                          .after = calloc(reader->count + 1, sizeof *twice.after)};

    if (twice.before && twice.after) {
        read_twice(reader, &twice);
        for (size_t i = 0; i < reader->count; i++) {
            struct trouble trouble;
            enum evaluation evaluation = evaluate(&twice, i, trouble.text, sizeof trouble.text);

            if (evaluation != EVENT_FINE && finding->trouble_count++ < TROUBLES_MAX) {
                strcpy(trouble.event, reader->events[i].name);
                finding->troubles[finding->trouble_count - 1] = trouble;
            }
        }
    }
    free(twice.before);
    free(twice.after);
}

static void try_way(const struct apapi_way *way, bool with_readings, struct finding *finding)
{
    struct apapi_reader *reader = apapi_catalog_open_way(way, &finding->reason);

    finding->error = reader ? 0 : errno;
    if (reader) {
        strcpy(finding->detail, reader->detail);
        finding->events = reader->count;
        finding->estimated = reader->count > 0;
        for (size_t i = 0; i < reader->count; i++) {
            finding->estimated = finding->estimated && reader->events[i].estimated;
        }
        if (with_readings) {
            evaluate_all(reader, finding);
        }
    }
    finding->known = true;
}

/* Hide what libraries print. As an ordinary user, give up all rights. */
static _Noreturn void examine_answer(const struct apapi_way *way, bool ordinary, int to)
{
    static struct finding finding;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    alarm(LIMIT_S);
    if (null < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0 ||
        (ordinary && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
                      setresuid(NOBODY, NOBODY, NOBODY)))) {
        _exit(EXIT_FAILURE);
    }
    try_way(way, !ordinary, &finding);
    _exit(write(to, &finding, sizeof finding) == (ssize_t)sizeof finding ? EXIT_SUCCESS
                                                                         : EXIT_FAILURE);
}

static bool examine_hear(int from, struct finding *finding)
{
    char *bytes = (char *)finding;
    size_t got = 0;

    while (got < sizeof *finding) {
        ssize_t more = read(from, bytes + got, sizeof *finding - got);

        if (more <= 0 && !(more < 0 && errno == EINTR)) {
            return false;
        }
        got += more > 0 ? (size_t)more : 0;
    }
    return true;
}

static void note_end(int status, struct finding *finding)
{
    memset(finding, 0, sizeof *finding);
    finding->error = EIO;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        finding->error = ETIMEDOUT;
        apapi_fail(&finding->reason, ETIMEDOUT, "no answer within %d s", LIMIT_S);
    } else if (WIFSIGNALED(status)) {
        apapi_fail(&finding->reason, EIO, "what it loads ends the process: %s",
                   strsignal(WTERMSIG(status)));
    } else {
        apapi_fail(&finding->reason, EIO, "what it loads ends the process with status %d",
                   WEXITSTATUS(status));
    }
}

static void try_in_child(const struct apapi_way *way, bool ordinary, struct finding *finding)
{
    int ends[2], status = 0;
    bool heard;
    pid_t child;

    if (pipe2(ends, O_CLOEXEC)) {
        return;
    }
    child = fork();
    if (child == 0) {
        examine_answer(way, ordinary, ends[1]);
    }
    close(ends[1]);
    heard = examine_hear(ends[0], finding);
    close(ends[0]);
    if (child < 0) {
        return;
    }
    waitpid(child, &status, 0);
    if (!heard) {
        note_end(status, finding);
        finding->known = !ordinary;
    }
}

void examine(struct examined_way *way)
{
    try_in_child(&way->way, false, &way->mine);
    if (geteuid() == 0) {
        try_in_child(&way->way, true, &way->ordinary);
    }
}

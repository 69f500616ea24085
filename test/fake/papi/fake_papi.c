/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stand-in for libpapi.so, which exports what APAPI looks up, for programs that load it by
 * APAPI_PAPI_LIBRARY. Its components:
 *   quitter   calls exit(127) at every second reading, after a line on standard error
 *   starter   calls exit(126) at its start
 *   stopper   calls exit(125) at its stop, every second time
 *   talker    prints on standard output and error whenever it is called
 *   late      has its event once it has been asked for the first event
 *   absent    likewise, but then finds nothing: "no such hardware"
 *   denied    disabled: "Can't open /dev/fake: Permission denied"
 *   eventless active, without any event
 *   opener    keeps a descriptor open that is not close-on-exec
 * and one for each component that the file FAKE_PAPI_EVENTS names in its lines' first fields, as in
 * an event definition file. Event number N (from 0) of the file yields, T s after PAPI's start,
 *   *POWER*  (20 + N) W + 1 W/s x T, in uW       *TEMP*  40 + N % 10
 *   *TIME*   1000 x T                            other   N + 1
 * To look for events in a thread that PAPI does not know aborts the program; PAPI 7 crashes there.
 */
#include <fcntl.h>
#include <papi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define COMPONENTS_MAX 16
#define EVENTS_MAX 256
#define SETS_MAX 8
#define THREADS_MAX 64
#define FIRST_OF_FILE 9

enum { QUITTER, STARTER, STOPPER, TALKER, LATE, ABSENT, DENIED, EVENTLESS, OPENER };

static PAPI_component_info_t components[COMPONENTS_MAX];
static int component_count;
static int starts[COMPONENTS_MAX];
static struct {
    char name[PAPI_MAX_STR_LEN];
    int component;
    int number; /* number in the file */
} events[EVENTS_MAX];
static int event_count;
static struct {
    bool used, running;
    int events[EVENTS_MAX];
    int count;
} sets[SETS_MAX];
static uint64_t start_ns;
static int readings, stops;

static int find_component(const char *name)
{
    for (int i = 0; i < component_count; i++) {
        if (strcmp(components[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static int add_component(const char *name)
{
    PAPI_component_info_t *info = &components[component_count];

    snprintf(info->name, sizeof info->name, "%s", name);
    snprintf(info->short_name, sizeof info->short_name, "%s", name);
    return component_count++;
}

static void add_event(const char *name, int component, int number)
{
    snprintf(events[event_count].name, sizeof events->name, "%.*s", PAPI_MAX_STR_LEN - 1, name);
    events[event_count].component = component;
    events[event_count++].number = number;
}

static void add_event_of_file(char *name, int number)
{
    char component[PAPI_MIN_STR_LEN];
    int index;

    snprintf(component, sizeof component, "%.*s", (int)strcspn(name, ":"), name);
    index = find_component(component);
    add_event(name, index < 0 ? add_component(component) : index, number);
}

static void load_events(const char *path)
{
    FILE *file = path ? fopen(path, "re") : NULL;
    char line[1024];
    int number = 0;

    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, ",\n")] = '\0';
        if (*line && *line != '#') {
            add_event_of_file(line, number++);
        }
    }
    if (file) {
        fclose(file);
    }
}

__attribute__((constructor)) static void create(void)
{
    static const char *const names[FIRST_OF_FILE] = {"quitter", "starter",   "stopper",
                                                     "talker",  "late",      "absent",
                                                     "denied",  "eventless", "opener"};
    static const int with_event[] = {QUITTER, STARTER, STOPPER, TALKER, LATE, ABSENT, OPENER};
    char name[PAPI_MAX_STR_LEN];

    for (int i = 0; i < FIRST_OF_FILE; i++) {
        add_component(names[i]);
    }
    for (size_t i = 0; i < sizeof with_event / sizeof *with_event; i++) {
        snprintf(name, sizeof name, "%s:::VALUE", names[with_event[i]]);
        add_event(name, with_event[i], 0);
    }
    load_events(getenv("FAKE_PAPI_EVENTS"));
}

int fake_papi_starts(const char *component);

/* @return how often a component has been initialized. */
int fake_papi_starts(const char *component)
{
    int index = find_component(component);

    return index < 0 ? -1 : starts[index];
}

static void talk(void)
{
    puts("talker: on standard output");
    fprintf(stderr, "talker: %s\n", "on standard error");
    fwrite("talker: ", 1, 8, stderr);
    perror("talker");
    fputc('\n', stderr);
    putchar('\n');
}

static void start_component(int index)
{
    PAPI_component_info_t *info = &components[index];

    starts[index]++;
    if (index == TALKER) {
        talk();
    } else if (index == LATE || index == ABSENT) {
        info->disabled = PAPI_EDELAY_INIT;
        strcpy(info->disabled_reason, "Not initialized. Access component events to initialize it.");
    } else if (index == DENIED) {
        info->disabled = PAPI_ESYS;
        strcpy(info->disabled_reason, "Can't open /dev/fake: Permission denied");
    }
}

/*
 * PAPI 7 keeps a pointer for each thread, which dangles after a shutdown by another one. It is not
 * _Thread_local: with that in a library, the leak checker of GCC 12 crashes.
 */
static unsigned life = 1;
static struct {
    pid_t thread;
    unsigned life; /* life in which the thread became known; 0: a free place */
} known[THREADS_MAX];

static unsigned *find_life(void)
{
    int i = 0;

    while (known[i].life && known[i].thread != gettid()) {
        if (++i == THREADS_MAX) {
            abort();
        }
    }
    known[i].thread = gettid();
    return &known[i].life;
}

int PAPI_register_thread(void)
{
    unsigned *since = find_life();

    if (*since && *since != life) {
        abort();
    }
    *since = life;
    return PAPI_OK;
}

int PAPI_thread_init(unsigned long (*self)(void))
{
    return self ? PAPI_OK : PAPI_EINVAL;
}

int PAPI_library_init(int version)
{
    *find_life() = life;
    for (int i = 0; i < component_count; i++) {
        if (!components[i].disabled) {
            start_component(i);
        }
    }
    start_ns = clock_monotonic_ns();
    return version == PAPI_VER_CURRENT ? version : PAPI_EINVAL;
}

void PAPI_shutdown(void)
{
    *find_life() = ++life;
    for (int i = 0; i < component_count; i++) {
        components[i].disabled = 0;
        *components[i].disabled_reason = '\0';
    }
    memset(sets, 0, sizeof sets);
    readings = 0;
}

int PAPI_num_components(void)
{
    return component_count;
}

const PAPI_component_info_t *PAPI_get_component_info(int index)
{
    return &components[index];
}

int PAPI_disable_component(int index)
{
    components[index].disabled = PAPI_ENOCMP;
    strcpy(components[index].disabled_reason, "disabled by the caller");
    return PAPI_OK;
}

/* As in nvml and rocm_smi of PAPI 7, the first question starts the component. */
static void end_delay(int index)
{
    PAPI_component_info_t *info = &components[index];

    if (info->disabled == PAPI_EDELAY_INIT) {
        info->disabled = index == LATE ? PAPI_OK : PAPI_ENOSUPP;
        if (index == ABSENT) {
            strcpy(info->disabled_reason, "no such hardware");
        }
    }
}

int PAPI_enum_cmp_event(int *code, int modifier, int component)
{
    int first = modifier == PAPI_ENUM_FIRST ? 0 : (*code & ~PAPI_NATIVE_MASK) + 1;

    if (*find_life() != life) {
        abort();
    }
    end_delay(component);
    if (components[component].disabled) {
        return PAPI_ENOCMP;
    }
    for (int i = first; i < event_count; i++) {
        if (events[i].component == component) {
            *code = i | PAPI_NATIVE_MASK;
            return PAPI_OK;
        }
    }
    return PAPI_ENOEVNT;
}

int PAPI_event_code_to_name(int code, char *name)
{
    strcpy(name, events[code & ~PAPI_NATIVE_MASK].name);
    return PAPI_OK;
}

int PAPI_get_event_info(int code, PAPI_event_info_t *info)
{
    memset(info, 0, sizeof *info);
    info->event_code = (unsigned)code;
    snprintf(info->long_descr, sizeof info->long_descr, "what %s says\nand more",
             events[code & ~PAPI_NATIVE_MASK].name);
    return PAPI_OK;
}

int PAPI_create_eventset(int *set)
{
    for (int i = 0; i < SETS_MAX; i++) {
        if (!sets[i].used) {
            sets[i].used = true;
            *set = i;
            return PAPI_OK;
        }
    }
    return PAPI_ENOMEM;
}

static int component_of(int set)
{
    return events[sets[set].events[0]].component;
}

int PAPI_add_named_event(int set, const char *name)
{
    for (int i = 0; i < event_count; i++) {
        if (strcmp(events[i].name, name) == 0) {
            sets[set].events[sets[set].count++] = i;
            return component_of(set) == events[i].component ? PAPI_OK : PAPI_EINVAL;
        }
    }
    return PAPI_ENOEVNT;
}

static bool runs(int component)
{
    for (int i = 0; i < SETS_MAX; i++) {
        if (sets[i].running && component_of(i) == component) {
            return true;
        }
    }
    return false;
}

int PAPI_start(int set)
{
    if (runs(component_of(set))) {
        return PAPI_EISRUN;
    }
    switch (component_of(set)) {
    case STARTER:
        exit(126);
    case OPENER:
        open("/proc/cpuinfo", O_RDONLY);
        break;
    default:
        break;
    }
    sets[set].running = true;
    return PAPI_OK;
}

static long long value_of(int index)
{
    double since_s = (double)(clock_monotonic_ns() - start_ns) * 1e-9;
    int number = events[index].number;

    if (strstr(events[index].name, "POWER")) {
        return (long long)((20 + number + since_s) * 1e6);
    }
    if (strstr(events[index].name, "TEMP")) {
        return 40 + number % 10;
    }
    return strstr(events[index].name, "TIME") ? (long long)(since_s * 1000) : number + 1;
}

int PAPI_read(int set, long long *values)
{
    if (component_of(set) == QUITTER && ++readings % 2 == 0) {
        fprintf(stderr, "quitter: reading %d\n", readings);
        exit(127);
    }
    if (component_of(set) == TALKER) {
        talk();
    }
    for (int i = 0; i < sets[set].count; i++) {
        values[i] = value_of(sets[set].events[i]);
    }
    return PAPI_OK;
}

int PAPI_stop(int set, long long *values)
{
    if (component_of(set) == STOPPER && ++stops % 2 == 1) {
        exit(125);
    }
    sets[set].running = false;
    return values ? PAPI_read(set, values) : PAPI_OK;
}

int PAPI_cleanup_eventset(int set)
{
    sets[set].count = 0;
    return sets[set].running ? PAPI_EISRUN : PAPI_OK;
}

int PAPI_destroy_eventset(int *set)
{
    sets[*set].used = false;
    *set = PAPI_NULL;
    return PAPI_OK;
}

char *PAPI_strerror(int code)
{
    static char text[32];

    snprintf(text, sizeof text, "error %d", code);
    return text;
}

/* Components of this library cannot interrupt. */

int PAPI_overflow(int set, int code, int threshold, int flags, PAPI_overflow_handler_t handler)
{
    (void)set, (void)code, (void)threshold, (void)flags, (void)handler;
    return PAPI_ENOSUPP;
}

int PAPI_get_overflow_event_index(int set, long long vector, int *indices, int *count)
{
    (void)set, (void)vector, (void)indices, (void)count;
    return PAPI_ENOSUPP;
}

int PAPI_event_name_to_code(const char *name, int *code)
{
    (void)name, (void)code;
    return PAPI_ENOEVNT;
}

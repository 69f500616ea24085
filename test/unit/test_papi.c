/* SPDX-License-Identifier: BSD-3-Clause */
/* The source for PAPI, with a libpapi that misbehaves in certain ways. */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <papi.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "fake/powercap_tree.h"
#include "sources/papi/papi_faults.h"
#include "sources/papi/papi_library.h"
#include "sources/sources.h"
#include "unit/unit.h"

static const struct apapi_source *const papi = &apapi_source_papi;

static struct apapi_reader *open_named(const char *component)
{
    struct apapi_reader *reader = papi->open(component, &why);

    fail_if(!reader, "%s: %s", component, why.text);
    return reader;
}

TEST(a_start_that_would_end_the_process_fails)
{
    assert_fails_saying(EIO, "PAPI's starter would have ended the process: exit(126)",
                        papi->open("starter", &why));
    papi->close(open_named("late")); /* the other components are not harmed */
}

TEST(a_stop_that_would_end_the_process_does_not)
{
    papi->close(open_named("stopper"));
    papi->close(open_named("stopper"));
    papi->close(open_named("late"));
}

TEST(reasons)
{
    static const struct {
        const char *component, *reason;
        int code;
    } cases[] = {
        {"denied", "PAPI's denied is disabled: Can't open /dev/fake: Permission denied", EACCES},
        {"absent", "PAPI's absent is disabled: no such hardware", ENODEV},
        {"eventless", "PAPI's eventless offers no usable event", ENODEV},
        {"nonsense", "has no component 'nonsense'", ENOENT},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_fails_with(cases[i].code, cases[i].reason, papi->open(cases[i].component, &why));
    }
}

TEST(a_component_that_starts_late)
{
    struct apapi_reader *reader = open_named("late");
    struct apapi_reading reading;
    char text[80];

    assert_int_equal(reader->count, 1);
    assert_string_equal(reader->events[0].name, "late:::VALUE");
    papi->read(reader, &reading);
    assert_int_equal(reading.error, 0);
    assert_int_equal(reading.raw, 1);
    papi->describe(reader, 0, text, sizeof text);
    assert_string_equal(text, "what late:::VALUE says");
    papi->close(reader);
}

static int starts_of(const char *component)
{
    void *fake = dlopen(getenv("APAPI_PAPI_LIBRARY"), RTLD_NOW);
    int (*starts)(const char *);

    assert_non_null(fake);
    *(void **)&starts = dlsym(fake, "fake_papi_starts");
    return starts(component);
}

/* A component of PAPI that starts late does not start a second time. */
TEST(a_component_is_opened_again_and_again)
{
    int starts;

    papi->close(open_named("late"));
    starts = starts_of("late");
    papi->close(open_named("late"));
    papi->close(open_named("late"));
    assert_int_equal(starts_of("late"), starts);
}

TEST(only_what_is_wanted_is_started)
{
    int late = starts_of("late"), talker = starts_of("talker"), opener = starts_of("opener");
    struct apapi_reader *reader;

    papi->want("late");
    papi->want("opener");
    reader = open_named("late");
    assert_int_equal(starts_of("late"), late + 1);
    assert_int_equal(starts_of("opener"), opener + 1);
    assert_int_equal(starts_of("talker"), talker);
    papi->close(reader);
}

/* @return the bytes written to both outputs while `component` is opened, read and closed. */
static size_t bytes_printed(const char *component)
{
    int outputs[2] = {dup(STDOUT_FILENO), dup(STDERR_FILENO)};
    int file = memfd_create("printed", MFD_CLOEXEC);
    struct apapi_reading reading;
    struct apapi_reader *reader;
    off_t size;

    assert_true(file >= 0);
    fflush(NULL);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    reader = papi->open(component, NULL);
    for (int i = 0; reader && i < 3; i++) {
        papi->read(reader, &reading);
    }
    papi->close(reader);
    fflush(NULL);
    size = lseek(file, 0, SEEK_END);
    for (int i = 0; i < 2; i++) {
        dup2(outputs[i], STDOUT_FILENO + i);
        close(outputs[i]);
    }
    close(file);
    assert_non_null(reader);
    return (size_t)size;
}

TEST(nothing_is_printed)
{
    assert_int_equal(bytes_printed("talker"), 0);
    assert_int_equal(bytes_printed("quitter"), 0);
}

/* If a program uses the same library, its own calls are not caught. */
TEST(others_still_end_and_print)
{
    struct apapi_reader *reader = open_named("late");
    int (*read_talker)(int, long long *), (*create)(int *), (*add)(int, const char *);
    void *fake = dlopen(getenv("APAPI_PAPI_LIBRARY"), RTLD_NOW);
    long long value;
    int set, status, pipes[2];
    pid_t child;
    char text[64] = "";

    *(void **)&create = dlsym(fake, "PAPI_create_eventset");
    *(void **)&add = dlsym(fake, "PAPI_add_named_event");
    *(void **)&read_talker = dlsym(fake, "PAPI_read");
    assert_int_equal(pipe(pipes), 0);
    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(pipes[1], STDERR_FILENO);
        create(&set);
        add(set, "quitter:::VALUE");
        read_talker(set, &value);
        read_talker(set, &value);
        _exit(1); /* not reached */
    }
    close(pipes[1]);
    assert_true(read(pipes[0], text, sizeof text - 1) > 0);
    close(pipes[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 127);
    assert_contains(text, "quitter: reading");
    papi->close(reader);
}

static size_t open_on_exec(void)
{
    DIR *dir = opendir("/proc/self/fd");
    size_t count = 0;

    assert_non_null(dir);
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        int fd = (int)strtol(entry->d_name, NULL, 10);

        count += entry->d_name[0] != '.' && !(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    }
    closedir(dir);
    return count;
}

TEST(no_descriptor_reaches_another_program)
{
    size_t before = open_on_exec();
    struct apapi_reader *reader;

    reader = open_named("opener");
    assert_int_equal(open_on_exec(), before);
    papi->close(reader);
}

/* --- threads: PAPI crashes in those that it does not know, or knew before a shutdown ---------- */

static void *open_late(void *unused)
{
    (void)unused;
    return papi->open("late", NULL);
}

static void *close_it(void *reader)
{
    papi->close(reader);
    return NULL;
}

static void *in_a_thread(void *(*call)(void *), void *argument)
{
    pthread_t thread;
    void *result;

    assert_int_equal(pthread_create(&thread, NULL, call, argument), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    return result;
}

static void assert_reads(struct apapi_reader *reader)
{
    struct apapi_reading reading;

    assert_non_null(reader);
    papi->read(reader, &reading);
    assert_int_equal(reading.error, 0);
}

TEST(each_thread_opens_and_closes)
{
    struct apapi_reader *first, *second;

    first = papi->open("late", NULL);
    assert_reads(first);
    in_a_thread(close_it, first);
    first = in_a_thread(open_late, NULL);
    assert_reads(first);
    second = papi->open("opener", NULL);
    assert_reads(second);
    papi->close(first);
    in_a_thread(close_it, second);
}

#ifndef __SANITIZE_THREAD__ /* TSan allows no new thread in a child of fork() */
TEST(a_child_of_fork)
{
    int status;
    pid_t child;

    papi->close(papi->open("late", NULL));
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct apapi_reader *reader = papi->open("late", NULL);
        struct apapi_reading reading = {.error = EIO};

        alarm(120);
        if (reader) {
            papi->read(reader, &reading);
        }
        papi->close(reader);
        _exit(reading.error ? 1 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}
#endif

static int answer_and_fail(void *number)
{
    errno = ERANGE;
    return *(int *)number;
}

static void *call_often(void *wrong)
{
    for (int i = 0; i < 200; i++) {
        int number = -i - 2;

        errno = 0;
        if (papi_thread_call(answer_and_fail, &number, NULL) != number || errno != ERANGE) {
            return wrong;
        }
    }
    return NULL;
}

TEST(each_caller_gets_its_own_answer)
{
    pthread_t threads[4];
    void *wrong;

    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, threads), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
}

int main(void)
{
    setenv("APAPI_PAPI_LIBRARY", FAKE_PAPI, 1);
    return unit_run();
}

/* --- the meaning of PAPI's events ------------------------------------------------------------- */

static bool describe(const char *name, const char *units, struct apapi_event *event)
{
    PAPI_event_info_t info = {0};

    snprintf(info.units, sizeof info.units, "%s", units);
    return papi_event_describe(&info, name, event);
}

/* The meaning of events: kind, "+" for a counter, domain, unit and scale. */
static const struct {
    const char *name, *papi, *meaning;
} known_events[] = {
    {"rapl:::PACKAGE_ENERGY:PACKAGE0", "nJ", "energy+ package J 1e-09"},
    {"rapl:::DRAM_ENERGY:PACKAGE1", "nJ", "energy+ dram J 1e-09"},
    {"perf_event_uncore:::rapl::RAPL_ENERGY_PKG:cpu=0", "", "energy+ package J 2.32831e-10"},
    {"coretemp:::hwmon0:temp1_input", "degrees C", "temperature - C 0.001"},
    {"coretemp:::hwmon0:in0_input", "V", "count - V 0.001"},
    {"coretemp:::hwmon0:fan1_input", "RPM", "count - rpm 1"},
    {"lmsensors:::coretemp-isa-0000.Core_0.temp2_input", "", "temperature - C 0.001"},
    {"lmsensors:::power_meter-acpi-0.power1.power1_average", "", "power - W 0.001"},
    {"net:::eth0:rx:bytes", "", "count+ - B 1"},
    {"net:::eth0:tx:byte", "", "count+ - B 1"},
    {"net:::eth0:rx:packets", "", "count+ -  1"},
    {"infiniband:::mlx5_0:port_xmit_data", "", "count+ - B 4"},
    {"infiniband:::mlx5_0:port_xmit_packets", "", "count+ -  1"},
    {"micpower:::tot0", "uW", "power - W 1e-06"},
    {"micpower:::vccp:cur", "uA", "count - A 1e-06"},
    {"maxeler:::fpga_POWER:DEVICE0", "", "power - W 1e-06"},
    {"micknc:::TEMP_DIE:DEVICE0", "", "temperature - C 1"},
    {"micknc:::FREQ_CORE:DEVICE0", "", "frequency - Hz 1000"},
    {"site:::anything", "furlong", "count+ - furlong 1"},
};

TEST(known_events)
{
    for (size_t i = 0; i < COUNT_OF(known_events); i++) {
        struct apapi_event event;
        char meaning[128];

        print_message("# %s\n", known_events[i].name);
        assert_true(describe(known_events[i].name, known_events[i].papi, &event));
        assert_string_equal(event.name, known_events[i].name);
        snprintf(meaning, sizeof meaning, "%s%s %s %s %g", apapi_kind_name(event.kind),
                 event.accumulates ? "+" : "", apapi_domain_name(event.domain), event.unit,
                 event.scale);
        assert_string_equal(meaning, known_events[i].meaning);
    }
}

/* PAPI reads one core of each package. */
TEST(amds_cores_are_no_domain)
{
    struct powercap_tree tree;
    struct apapi_event event;

    powercap_tree_create(&tree);
    assert_true(describe("rapl:::PP0_ENERGY:PACKAGE0", "nJ", &event));
    assert_int_equal(event.domain, APAPI_DOMAIN_CORE);
    powercap_tree_put(&tree, "sys/devices/system/cpu/modalias", "cpu:type:x86,ven0002fam0019\n");
    assert_true(describe("rapl:::PP0_ENERGY:PACKAGE0", "nJ", &event));
    assert_int_equal(event.domain, APAPI_DOMAIN_NONE);
    powercap_tree_destroy(&tree);
}

/* A counter whose range is not reported must at least be read often enough. */
TEST(guards)
{
    struct apapi_event event;

    assert_true(describe("rapl:::PACKAGE_ENERGY:PACKAGE0", "nJ", &event));
    assert_true(event.guard_j > 65535 && event.guard_j < 65537);
}

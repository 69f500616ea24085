/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi doctor: the events that cannot be read here, the reasons, and what would help. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <math.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apapi/catalog.h"
#include "apapi/session.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/kernel_file.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/doctor/evaluate.h"
#include "config/config.h"
#include "config/installed.h"
#include "render/table.h"

#define TROUBLES_MAX 8 /* events that are reported one by one */

/** An event that can be opened, but is of no use. */
struct trouble {
    char event[APAPI_NAME_SIZE];
    char text[96];
};

/** The result of trying one way. */
struct finding {
    bool known;
    int error;                 /* 0: the way can be opened; else the errno */
    struct apapi_error reason; /* why the way cannot be opened */
    char detail[64];           /* detail of the reader */
    size_t events;
    size_t trouble_count; /* number of useless events, also of those without room */
    struct trouble troubles[TROUBLES_MAX];
    bool estimated; /* not a meter: all events are computed */
};

/** One way to read a component. */
struct examined_way {
    struct apapi_way way;
    struct finding mine;
    struct finding
        ordinary; /* tried by opening it as a user without any rights; known to root only */
};

/* One component, and who can read it. */
struct examined {
    const char *name;
    size_t way_count;
    struct examined_way ways[APAPI_WAYS_MAX];
    bool me;
    bool ordinary; /* any user can read it; known to root only */
    bool root;     /* root can read it, or this user only lacks permission */
    bool estimate; /* the component is only computed: no way that works is a meter */
};

#define SHOWN_MAX 64

struct diagnosis {
    struct machine { /* facts that decide whether meters can be read here */
        bool virtual_machine;
        bool container;
        uid_t uid; /* effective user */
        char user[UNITS_SIZE];
    } machine;
    size_t count;
    struct examined components[WANTED_MAX];
    struct {
        const char *remedy;
        const char *component;
    } shown[SHOWN_MAX]; /* remedies already shown, with their component */
    size_t shown_count;
};

/* --- two readings of an event --- */

#define COLDEST_C (-60.0)
#define HOTTEST_C 200.0

static bool implausible(char *text, size_t size, double value, const char *unit)
{
    snprintf(text, size, "implausible: %s", units_quantity(value, unit).text);
    return false;
}

static bool evaluate_power(const struct apapi_event *event, double power_w, char *text, size_t size)
{
    return (power_w > 0 && power_w <= apapi_domain_max_w(event->domain)) ||
           implausible(text, size, power_w, "W");
}

static bool evaluate_energy(const struct apapi_event *event, const struct two_readings *readings,
                            char *text, size_t size)
{
    double energy_j = apapi_event_value(event, readings->after.raw) -
                      apapi_event_value(event, readings->before.raw);

    if (energy_j < 0 && event->range_max > 0) {
        energy_j += ((double)event->range_max + 1) * event->scale;
    }
    if (energy_j <= 0) {
        snprintf(text, size, energy_j < 0 ? "goes backwards" : "opens but never moves: dead");
        return false;
    }
    return evaluate_power(event, energy_j / readings->elapsed_s, text, size);
}

bool evaluate_event(const struct apapi_event *event, const struct two_readings *readings,
                    char *text, size_t size)
{
    const struct apapi_reading *after = &readings->after;
    double value = apapi_event_value(event, after->raw);

    if (readings->before.error || after->error) {
        snprintf(text, size, "%s", strerror(after->error ? after->error : readings->before.error));
        return false;
    }
    if (event->type == APAPI_TYPE_UINT64 && event->range_max > 0 && after->raw > event->range_max) {
        snprintf(text, size, "implausible: above its own range");
        return false;
    }
    if (event->kind == APAPI_KIND_ENERGY && event->accumulates) {
        return evaluate_energy(event, readings, text, size);
    }
    if (event->kind == APAPI_KIND_POWER && !event->accumulates) {
        return evaluate_power(event, value, text, size);
    }
    return (event->kind == APAPI_KIND_TEMPERATURE ? value > COLDEST_C && value < HOTTEST_C
                                                  : isfinite(value)) ||
           implausible(text, size, value, event->unit);
}

/* --- a way, in a process of its own --- */

#define PAUSE_NS (NS_PER_S / 10)
#define PATIENCE_NS NS_PER_S /* a counter that stands still for longer is dead */
#define LONGEST_PAUSE_NS (UINT64_C(5) * NS_PER_S)
#define NOBODY 65534
#define LIMIT_S 30

static bool all_move(const struct apapi_reader *reader, const struct apapi_reading *before,
                     const struct apapi_reading *after)
{
    for (size_t i = 0; i < reader->count; i++) {
        const struct apapi_event *event = &reader->events[i];

        if (event->kind == APAPI_KIND_ENERGY && event->accumulates && !before[i].error &&
            !after[i].error && before[i].raw == after[i].raw) {
            return false;
        }
    }
    return true;
}

/* Read all events twice. While a counter has not moved, read again, up to PATIENCE_NS.
 * @return the time between the readings [s] */
static double read_twice(struct apapi_reader *reader, struct apapi_reading *before,
                         struct apapi_reading *after)
{
    uint64_t pause_ns = PAUSE_NS, start_ns, elapsed_ns;
    struct timespec pause;

    for (size_t i = 0; i < reader->count; i++) { /* for two updates of the slowest event */
        uint64_t two_ns = 2 * reader->events[i].update_ns;

        pause_ns = two_ns > pause_ns ? two_ns : pause_ns;
    }
    pause_ns = pause_ns < LONGEST_PAUSE_NS ? pause_ns : LONGEST_PAUSE_NS;
    pause = (struct timespec){(time_t)(pause_ns / NS_PER_S), (long)(pause_ns % NS_PER_S)};
    apapi_catalog_read(reader, before);
    start_ns = clock_monotonic_ns();
    do {
        nanosleep(&pause, NULL);
        apapi_catalog_read(reader, after);
        elapsed_ns = clock_monotonic_ns() - start_ns;
    } while (elapsed_ns < PATIENCE_NS && !all_move(reader, before, after));
    return (double)elapsed_ns / NS_PER_S;
}

static void evaluate_all(struct apapi_reader *reader, struct finding *finding)
{
    struct apapi_reading *before = calloc(reader->count + 1, sizeof *before);
    struct apapi_reading *after = calloc(reader->count + 1, sizeof *after);

    if (before && after) {
        double elapsed_s = read_twice(reader, before, after);

        for (size_t i = 0; i < reader->count; i++) {
            const struct two_readings readings = {before[i], after[i], elapsed_s};
            struct trouble trouble;

            if (!evaluate_event(&reader->events[i], &readings, trouble.text, sizeof trouble.text) &&
                finding->trouble_count++ < TROUBLES_MAX) {
                strcpy(trouble.event, reader->events[i].name);
                finding->troubles[finding->trouble_count - 1] = trouble;
            }
        }
    }
    free(before);
    free(after);
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

/* Try a way, with the output of libraries hidden; if `ordinary`, without any rights. */
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

/*
 * Try a way in its own process, as the libraries that it loads may end the process: as this user,
 * reading all events; if `ordinary`, as a user without any rights, without reading events.
 */
static void try_in_child(const struct apapi_way *way, bool ordinary, struct finding *finding)
{
    int ends[2], status = 0;
    bool heard;
    pid_t child;
    FILE *answer;

    if (pipe2(ends, O_CLOEXEC)) {
        return;
    }
    signal(SIGCHLD, SIG_DFL); /* while SIGCHLD is ignored, no exit status is known */
    child = fork();
    if (child == 0) {
        examine_answer(way, ordinary, ends[1]);
    }
    close(ends[1]);
    answer = fdopen(ends[0], "r");
    heard = answer && fread(finding, sizeof *finding, 1, answer) == 1;
    if (answer ? fclose(answer) : close(ends[0])) {
        heard = false;
    }
    if (child < 0) {
        return;
    }
    waitpid(child, &status, 0);
    if (!heard) {
        note_end(status, finding);
        finding->known = !ordinary;
    }
}

/* --- the machine --- */

/* Every hypervisor sets this flag of an x86 processor. */
static bool has_hypervisor_flag(void)
{
    char path[PATH_MAX], *line = NULL;
    size_t size = 0;
    bool found = false;
    FILE *file;

    kernel_file_path(path, sizeof path, "/proc/cpuinfo"); /* below the test root, if it has one */
    file = fopen(access(path, R_OK) == 0 ? path : "/proc/cpuinfo", "re");
    while (file && !found && getline(&line, &size, file) > 0) {
        found = strncmp(line, "flags", 5) == 0 && strstr(line, " hypervisor");
    }
    free(line);
    if (file) {
        fclose(file);
    }
    return found;
}

static void machine_look(struct machine *machine)
{
    const struct passwd *user;

    machine->virtual_machine = has_hypervisor_flag();
    machine->container =
        access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0;
    machine->uid = geteuid();
    user = getpwuid(machine->uid);
    snprintf(machine->user, sizeof machine->user, "%s",
             user ? user->pw_name : units_part(true, "uid %u", (unsigned)machine->uid).text);
}

/* --- how to make a component readable --- */

static const char powercap_right[] =
    "as root: groupadd --system apapi; usermod -aG apapi USER; "
    "cp %s/60-apapi-powercap.rules /etc/udev/rules.d/; "
    "udevadm control --reload; udevadm trigger --action=add --subsystem-match=powercap. "
    "Or measure with srun --apapi=, which reads as root.";
static const char no_papi[] =
    "install the PAPI that APAPI was built with (Debian: libpapi-dev brings it); APAPI itself must "
    "not be configured with -DWITH_PAPI=OFF";

/* The first row that matches is taken. NULL and 0 match everything. */
static const struct remedy {
    const char *component; /* names with commas, as of `way` */
    const char *source;
    const char *way; /* names of the component in this source */
    int error;
    enum { ANYWHERE, IN_VM, IN_CONTAINER } where;
    const char *text; /* NULL: nothing helps */
} remedies[] = {
    {NULL, "sysfs", "rapl,powercap", EACCES, ANYWHERE, powercap_right},
    {NULL, "papi", "rapl", EACCES, ANYWHERE,
     "PAPI's rapl reads /dev/cpu/*/msr: as root with CAP_SYS_RAWIO only. The kernel's own meters "
     "(APAPI_SOURCES=sysfs) can be given to a group."},
    {NULL, "papi", "perf_event_uncore", EACCES, ANYWHERE,
     "as root: sysctl kernel.perf_event_paranoid=0"},
    {"rapl,powercap", NULL, NULL, 0, IN_VM,
     "nothing: a virtual machine has no RAPL, its host's meters are not passed on. Measure on the "
     "host; in here --apapi=estimate computes from CPU time and the watts that you configure."},
    {"rapl,powercap", "sysfs", NULL, ENODEV, IN_CONTAINER,
     "on the host: modprobe intel_rapl_msr; a container must be given the meters: -v "
     "/sys/devices/virtual/powercap:/sys/devices/virtual/powercap:ro"},
    {"rapl,powercap", "sysfs", NULL, ENODEV, ANYWHERE,
     "modprobe intel_rapl_msr, for AMD from family 17h on too; where there is no such module, a "
     "kernel with CONFIG_INTEL_RAPL"},
    {"rapl", "papi", "rapl", ENODEV, ANYWHERE, "as root: modprobe msr"},
    {"rapl", "papi", NULL, ENOSYS, ANYWHERE, no_papi},
    {"rapl", "papi", NULL, ENOENT, ANYWHERE,
     "scripts/setup-papi PREFIX builds a PAPI with rapl, powercap, coretemp and net; then "
     "configure APAPI with -DPAPI_ROOT=PREFIX"},
    {"maxeler,micknc", NULL, NULL, ENOSYS, ANYWHERE, no_papi},
    {"maxeler,micknc", NULL, NULL, 0, ANYWHERE,
     "no released PAPI has it: configure APAPI with -DPAPI_ROOT= and the prefix of a PAPI that "
     "does"},
    {"hwmon", NULL, NULL, ENODEV, IN_VM, "nothing: a virtual machine has no chips that measure"},
    {"hwmon", NULL, NULL, ENODEV, ANYWHERE,
     "as root: modprobe acpi_power_meter, of AMD's CPUs amd_energy or fam15h_power; drivers of "
     "power supplies, network cards and GPUs bring their own"},
    {"intel_gpu", NULL, NULL, 0, ANYWHERE,
     "a discrete Intel GPU whose driver, i915 or xe, offers energy1_input in hwmon"},
    {"cray_pm", NULL, NULL, 0, ANYWHERE, "nothing: only HPE Cray nodes have it"},
    {"ipmi", "ipmi", NULL, ENODEV, IN_VM,
     "nothing: a virtual machine has no BMC; set host, user and password_file in section [ipmi] to "
     "ask one over the network"},
    {"ipmi", "ipmi", NULL, ENODEV, IN_CONTAINER,
     "on the host: modprobe -a ipmi_si ipmi_devintf; the container must be given --device "
     "/dev/ipmi0"},
    {"ipmi", "ipmi", NULL, ENODEV, ANYWHERE,
     "as root: modprobe -a ipmi_si ipmi_devintf. To ask a BMC over the network: host, user and "
     "password_file in section [ipmi]"},
    {"ipmi", "ipmi", NULL, EACCES, ANYWHERE,
     "measure with srun --apapi=, which asks as root. Whoever may open /dev/ipmi0 may switch the "
     "machine off: give no user that right; over the network a user of the BMC with privilege USER "
     "is enough: host, user and password_file in section [ipmi]"},
    {"ipmi", "ipmi", NULL, ENOSYS, ANYWHERE,
     "install FreeIPMI (Debian: libfreeipmi17); an APAPI that was built without it must be built "
     "again with its headers (libfreeipmi-dev)"},
    {"ipmi", "papi", NULL, 0, ANYWHERE, NULL},
    {"nvml", NULL, NULL, EACCES, ANYWHERE,
     "as root: chmod a+rw /dev/nvidiactl /dev/nvidia[0-9]*, for good by the module's option "
     "NVreg_DeviceFileMode=0666 in /etc/modprobe.d"},
    {"nvml", NULL, NULL, ENODEV, ANYWHERE,
     "NVIDIA's driver: nvidia-smi must list the GPUs; in a container --gpus all"},
    {"rocm_smi,amd_smi", NULL, NULL, ENODEV, ANYWHERE,
     "as root: modprobe amdgpu; install ROCm's librocm_smi64.so or libamd_smi.so. In a container: "
     "--device /dev/kfd --device /dev/dri"},
    {"rocm_smi,amd_smi", NULL, NULL, EACCES, ANYWHERE, "as root: usermod -aG render,video USER"},
    {NULL, NULL, NULL, EACCES, ANYWHERE,
     "measure with srun --apapi=, which reads as root, or as root"},
};

static bool fits(const char *wanted, const char *name)
{
    return !wanted || text_names_have(wanted, name);
}

/* @return the remedy for a way that fails, in static storage: the same pointer for the same remedy;
 * NULL: none is known */
static const char *remedy_find(const struct examined *component, const struct examined_way *way,
                               const struct finding *finding, const struct machine *machine)
{
    static char right[sizeof powercap_right + PATH_MAX];

    for (size_t i = 0; i < COUNT_OF(remedies); i++) {
        const struct remedy *remedy = &remedies[i];

        if (fits(remedy->component, component->name) &&
            fits(remedy->source, apapi_source_name(way->way.source)) &&
            fits(remedy->way, way->way.name) &&
            (remedy->error == 0 || remedy->error == finding->error) &&
            (remedy->where == ANYWHERE ||
             (remedy->where == IN_VM ? machine->virtual_machine : machine->container))) {
            snprintf(right, sizeof right, powercap_right, installed_path(INSTALLED_DATA));
            return remedy->text == powercap_right ? right : remedy->text;
        }
    }
    return NULL;
}

/* --- a component's ways together --- */

static bool way_works(const struct examined_way *way)
{
    const struct finding *mine = &way->mine;

    return mine->known && mine->error == 0 && mine->trouble_count < mine->events;
}

/* --- for people --- */

#define LEAD_COLUMNS 24
__attribute__((format(printf, 2, 3))) static void put_line(const char *lead, const char *format,
                                                           ...)
{
    size_t columns = strlen(lead) + 2 > LEAD_COLUMNS ? strlen(lead) + 2 : LEAD_COLUMNS;
    char text[1024];
    va_list values;

    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    printf("  %-*s", (int)columns, lead);
    terminal_put(stdout, text, 2 + columns, terminal_width());
}

static const char *verdict(const struct examined *component, bool as_root)
{
    if (component->me && component->estimate) {
        return "can be computed, without any meter";
    }
    if (component->me && as_root) {
        return component->ordinary ? "can be read by everyone" : "can be read by root";
    }
    if (component->me) {
        return "can be read by you";
    }
    return component->root ? "cannot be read by you" : "cannot be read";
}

static void put_ways(const struct examined *component)
{
    const char *reason = component->ways[0].mine.reason.text;
    bool same = true; /* all ways fail for one reason */

    for (size_t i = 0; i < component->way_count; i++) {
        const struct finding *finding = &component->ways[i].mine;

        same = same && finding->error && strcmp(finding->reason.text, reason) == 0;
    }
    if (same) {
        put_line("why", "%s", reason);
    }
    for (size_t i = 0; i < component->way_count && !same; i++) {
        const struct examined_way *way = &component->ways[i];
        const struct finding *finding = &way->mine;
        size_t good = finding->events - finding->trouble_count;
        char lead[2 * APAPI_COMPONENT_SIZE];

        snprintf(lead, sizeof lead, "%s %s", apapi_source_name(way->way.source), way->way.name);
        if (finding->error) {
            put_line(lead, "%s", finding->reason.text);
            continue;
        }
        put_line(lead, "%s: %s, %zu of %zu events", good > 0 ? "works" : "no use", finding->detail,
                 good, finding->events);
        for (size_t k = 0; k < finding->trouble_count && k < TROUBLES_MAX; k++) {
            put_line("", "%s: %s", finding->troubles[k].event, finding->troubles[k].text);
        }
        if (finding->trouble_count > TROUBLES_MAX) {
            put_line("", "and %zu others", finding->trouble_count - TROUBLES_MAX);
        }
    }
}

static void put_remedy(struct diagnosis *diagnosis, const struct examined *component,
                       const struct examined_way *way, const struct finding *finding)
{
    const char *remedy = remedy_find(component, way, finding, &diagnosis->machine);
    const char *before = NULL; /* component for which the remedy was shown first */

    for (size_t i = 0; remedy && i < diagnosis->shown_count; i++) {
        if (diagnosis->shown[i].remedy == remedy) {
            before = before ? before : diagnosis->shown[i].component;
            remedy = diagnosis->shown[i].component == component->name ? NULL : remedy;
        }
    }
    if (!remedy) {
        return;
    }
    if (diagnosis->shown_count < SHOWN_MAX) {
        diagnosis->shown[diagnosis->shown_count].remedy = remedy;
        diagnosis->shown[diagnosis->shown_count++].component = component->name;
    }
    put_line("to fix it", before ? "as %s" : "%s", before ? before : remedy);
}

static void put_component(struct diagnosis *diagnosis, const struct examined *component)
{
    printf("\n%s: %s\n", component->name, verdict(component, diagnosis->machine.uid == 0));
    put_ways(component);
    for (size_t i = 0; component->me && !component->ordinary && i < component->way_count; i++) {
        const struct examined_way *way = &component->ways[i];

        /* the best way that works for root fails for others */
        if (way_works(way) && way->ordinary.known && way->ordinary.error) {
            put_line("ordinary users", "%s", way->ordinary.reason.text);
            put_remedy(diagnosis, component, way, &way->ordinary);
            break;
        }
    }
    for (size_t i = 0; i < component->way_count; i++) {
        const struct examined_way *way = &component->ways[i];

        /* no remedy if another way works for this user, or lacks only permission */
        if (way->mine.error && !component->me && (!component->root || way->mine.error == EACCES)) {
            put_remedy(diagnosis, component, way, &way->mine);
        }
    }
}

/* Print a line of the summary, in the form of --apapi=: the components that can be measured.
 * @param reader  offset of the flag in struct examined; of `estimate`: components that are computed
 */
static void put_list(const struct diagnosis *diagnosis, const char *lead, size_t reader)
{
    bool computed = reader == offsetof(struct examined, estimate);
    char list[1024] = "";

    for (size_t i = 0; i < diagnosis->count; i++) {
        const struct examined *component = &diagnosis->components[i];

        if (*(const bool *)((const char *)component + reader) &&
            (computed || !component->estimate)) {
            text_append(list, sizeof list, ":", "%s", component->name);
        }
    }
    if (*list || !computed) {
        put_line(lead, "%s", *list ? list : "nothing");
    }
}

static void put_site_line(bool *begun, const char *lead, const char *text)
{
    fputs(*begun ? "" : "\nwhat apapi.conf says:\n", stdout);
    *begun = true;
    put_line(lead, "%s", text);
}

static void put_mistake(const char *text, void *begun)
{
    put_site_line(begun, "mistake", text);
}

static void put_warning(const char *text, void *begun)
{
    put_site_line(begun, "warning", text);
}

/* Check apapi.conf like `apapi config --check`. Root, who can read all, also gets the folders. */
static void put_site(bool root)
{
    bool begun = false;
    const struct config_sink mistakes = {put_mistake, &begun}, warnings = {put_warning, &begun};
    struct config config;

    config_read(&config, config_path(), &mistakes);
    if (root) {
        put_site_line(&begun, "acct_dir", config.acct_dir);
        put_site_line(&begun, "spool_dir", config.spool_dir);
    }
    config_check(&config, &mistakes, &warnings);
    config_clear(&config);
}

static bool site_measures(void)
{
    struct config config;
    bool measures;

    config_read(&config, config_path(), NULL);
    measures = config_check(&config, NULL, NULL);
    config_clear(&config);
    return measures;
}

static void print_text(struct diagnosis *diagnosis)
{
    const struct machine *machine = &diagnosis->machine;
    bool known = false;

    printf("%s%s; user %s\n", machine->virtual_machine ? "virtual machine" : "no virtual machine",
           machine->container ? ", in a container" : "", machine->user);
    for (size_t i = 0; i < diagnosis->count; i++) {
        known |= diagnosis->components[i].ways[0].ordinary.known;
        put_component(diagnosis, &diagnosis->components[i]);
    }
    puts("\nwhat can be measured here:");
    if (machine->uid != 0) {
        put_list(diagnosis, "you, with atime -c", offsetof(struct examined, me));
    }
    if (site_measures()) {
        put_list(diagnosis, "root, srun --apapi=", offsetof(struct examined, root));
    } else {
        put_line("root, srun --apapi=", "nothing, see below");
    }
    /* This is not known in a user namespace where the process cannot become another user. */
    if (machine->uid == 0 && known) {
        put_list(diagnosis, "ordinary users, atime", offsetof(struct examined, ordinary));
    }
    put_list(diagnosis, "computed only", offsetof(struct examined, estimate));
    put_site(machine->uid == 0);
}

/* --- the command --- */

static const struct option_table table = {
    .program = "apapi doctor",
    .head = "usage: apapi doctor [OPTION]... [COMPONENT]...\n"
            "Try every way to read a component: whether it works, for whom, why not, and what\n"
            "would help. Every counter is read twice: one that stands still is dead. Without\n"
            "COMPONENT: all components that APAPI knows a way for.\n",
    .foot = "Exit status: 0 you can measure all named components (without names: any), 1 you\n"
            "cannot, 2 wrong usage.\n",
    .column = 17,
    .rows = (const struct option_row[]){{0}}};

static void examine_all(struct diagnosis *diagnosis, const struct wanted *wanted)
{
    bool as_root = diagnosis->machine.uid == 0;

    for (size_t i = 0; i < wanted->count; i++) {
        struct examined *component = &diagnosis->components[diagnosis->count];
        struct apapi_way ways[APAPI_WAYS_MAX];
        bool meter = false;

        if (!wanted->named && !apapi_catalog_has_route(wanted->names[i])) {
            continue;
        }
        component->name = wanted->names[i];
        component->way_count = apapi_catalog_ways(component->name, ways);
        for (size_t k = 0; k < component->way_count; k++) {
            struct examined_way *way = &component->ways[k];
            bool works;

            way->way = ways[k];
            try_in_child(&way->way, false, &way->mine);
            if (as_root) {
                try_in_child(&way->way, true, &way->ordinary);
            }
            works = way_works(way);
            component->me |= works;
            component->ordinary |= works && way->ordinary.known && way->ordinary.error == 0;
            component->root |= works || (!as_root && way->mine.error == EACCES);
            component->estimate |= way->mine.estimated;
            meter |= works && !way->mine.estimated;
        }
        component->estimate &= !meter;
        diagnosis->count++;
    }
}

int doctor_command(int argc, char **argv)
{
    static struct diagnosis diagnosis;
    static struct wanted wanted;
    struct apapi_error err;
    size_t measured = 0;
    int status = option_table_read(&table, argc, argv, NULL);

    if (status >= 0) {
        return status;
    }
    config_use_sources("apapi doctor");
    if (wanted_parse(argc - optind, argv + optind, &wanted, &err)) {
        return command_refuse("doctor", "%s", err.text);
    }
    machine_look(&diagnosis.machine);
    examine_all(&diagnosis, &wanted);
    print_text(&diagnosis);
    for (size_t i = 0; i < diagnosis.count; i++) {
        measured +=
            diagnosis.components[i].me && (wanted.named || !diagnosis.components[i].estimate);
    }
    return command_finish("doctor", measured > 0 && (!wanted.named || measured == diagnosis.count)
                                        ? EXIT_SUCCESS
                                        : EXIT_FAILURE);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi doctor: the events that cannot be read here, why, and how to change that. */
#include "cli/doctor/examine.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apapi/session.h"
#include "base/array.h"
#include "cli/command.h"
#include "config/config.h"
#include "config/installed.h"
#include "config/network.h"
#include "config/slurm_conf.h"
#include "record/fields.h"
#include "render/table.h"

/* --- the settings of apapi.conf for records --- */

static void add_trouble(struct site *site, const char *key, const struct apapi_error *reason)
{
    site->troubles[site->trouble_count++] = (struct site_trouble){key, *reason};
}

static void site_look(struct site *site)
{
    struct config config;
    struct apapi_error reason;
    const char *key;

    config_defaults(&config);
    config_read(&config, config_path(), NULL);
    snprintf(site->acct_dir, sizeof site->acct_dir, "%s", config.acct_dir);
    snprintf(site->spool_dir, sizeof site->spool_dir, "%s", config.spool_dir);
    if (config_folder_check(config.acct_dir, &reason)) {
        add_trouble(site, "acct_dir", &reason);
    }
    if (config_folder_check(config.spool_dir, &reason)) {
        add_trouble(site, "spool_dir", &reason);
    }
    if (*config.components && apapi_components_check(config.components, &reason)) {
        add_trouble(site, "default", &reason);
    }
    for (size_t i = 0; config_network_find(&config, &i, &key, &reason);) {
        add_trouble(site, key, &reason);
    }
    config_clear(&config);
}

/* --- for people --- */

#define LEAD_COLUMNS 24
#define SHOWN_MAX 64
#define LEAD_SIZE (2 * APAPI_COMPONENT_SIZE)

struct page {
    const struct machine *machine;
    size_t width; /* of the terminal; 0: no limit */
    struct {
        const char *remedy;
        const char *component;
    } shown[SHOWN_MAX]; /* remedies that were shown already */
    size_t shown_count;
};

static const char *doctor_text_verdict(const struct examined *component,
                                       const struct machine *machine)
{
    struct readers readers = examined_readers(component, machine);

    if (readers.me && readers.estimate) {
        return "can be computed, without any meter";
    }
    if (readers.me && machine->uid == 0) {
        return readers.ordinary ? "can be read by everyone" : "can be read by root";
    }
    if (readers.me) {
        return "can be read by you";
    }
    return readers.root ? "cannot be read by you" : "cannot be read";
}

static void doctor_text_put_line(const struct page *page, const char *lead, const char *text)
{
    size_t columns = strlen(lead) + 2 > LEAD_COLUMNS ? strlen(lead) + 2 : LEAD_COLUMNS;

    printf("  %-*s", (int)columns, lead);
    terminal_put(stdout, text, 2 + columns, page->width);
}

static void doctor_text_put_open_way(const struct page *page, const char *lead,
                                     const struct finding *finding)
{
    char text[sizeof finding->troubles[0] + 64];

    snprintf(text, sizeof text, "%s: %s, %zu of %zu events",
             finding->trouble_count < finding->events ? "works" : "no use", finding->detail,
             finding->events - finding->trouble_count, finding->events);
    doctor_text_put_line(page, lead, text);
    for (size_t i = 0; i < finding->trouble_count && i < TROUBLES_MAX; i++) {
        const struct trouble *trouble = &finding->troubles[i];

        snprintf(text, sizeof text, "%s: %s", trouble->event, trouble->text);
        doctor_text_put_line(page, "", text);
    }
    if (finding->trouble_count > TROUBLES_MAX) {
        snprintf(text, sizeof text, "and %zu others", finding->trouble_count - TROUBLES_MAX);
        doctor_text_put_line(page, "", text);
    }
}

/* All ways fail for the same reason. */
static bool has_one_reason(const struct examined *component)
{
    for (size_t i = 0; i < component->way_count; i++) {
        const struct finding *finding = &component->ways[i].mine;

        if (!finding->error ||
            strcmp(finding->reason.text, component->ways[0].mine.reason.text) != 0) {
            return false;
        }
    }
    return true;
}

static void doctor_text_put_ways(const struct page *page, const struct examined *component)
{
    if (has_one_reason(component)) {
        doctor_text_put_line(page, "why", component->ways[0].mine.reason.text);
        return;
    }
    for (size_t i = 0; i < component->way_count; i++) {
        const struct examined_way *way = &component->ways[i];
        char lead[LEAD_SIZE];

        snprintf(lead, sizeof lead, "%s %s", apapi_source_name(way->way.source), way->way.name);
        if (way->mine.error) {
            doctor_text_put_line(page, lead, way->mine.reason.text);
        } else {
            doctor_text_put_open_way(page, lead, &way->mine);
        }
    }
}

static void doctor_text_put_remedy(struct page *page, const struct examined *component,
                                   const struct examined_way *way, const struct finding *finding)
{
    const char *remedy = remedy_find(component, way, finding, page->machine);
    const char *before = NULL; /* the component for which it was shown first */
    char text[APAPI_COMPONENT_SIZE + 8];

    for (size_t i = 0; remedy && i < page->shown_count; i++) {
        if (page->shown[i].remedy == remedy) {
            before = before ? before : page->shown[i].component;
            remedy = page->shown[i].component == component->name ? NULL : remedy;
        }
    }
    if (!remedy) {
        return;
    }
    if (page->shown_count < SHOWN_MAX) {
        page->shown[page->shown_count].remedy = remedy;
        page->shown[page->shown_count++].component = component->name;
    }
    if (before) {
        snprintf(text, sizeof text, "as %s", before);
        doctor_text_put_line(page, "to fix it", text);
    } else {
        char rights[256];

        machine_rights(finding->error == EACCES ? finding->reason.text : "", rights, sizeof rights);
        if (*rights) {
            doctor_text_put_line(page, "rights", rights);
        }
        doctor_text_put_line(page, "to fix it", remedy);
    }
}

/* For others, the best way that works for root fails. */
static void doctor_text_put_ordinary(struct page *page, const struct examined *component)
{
    for (size_t i = 0; i < component->way_count; i++) {
        const struct examined_way *way = &component->ways[i];

        if (way_works(way) && way->ordinary.known && way->ordinary.error) {
            doctor_text_put_line(page, "ordinary users", way->ordinary.reason.text);
            doctor_text_put_remedy(page, component, way, &way->ordinary);
            return;
        }
    }
}

static void doctor_text_put_component(struct page *page, const struct examined *component)
{
    struct readers readers = examined_readers(component, page->machine);

    printf("\n%s: %s\n", component->name, doctor_text_verdict(component, page->machine));
    doctor_text_put_ways(page, component);
    if (readers.me && !readers.ordinary) {
        doctor_text_put_ordinary(page, component);
    }
    for (size_t i = 0; i < component->way_count; i++) {
        const struct examined_way *way = &component->ways[i];

        if (finding_matters(component, &way->mine, page->machine)) {
            doctor_text_put_remedy(page, component, way, &way->mine);
        }
    }
}

/* One line of the summary, in the form of --apapi=: the components that the reader at this offset
 * of struct readers can measure; for `estimate`, those that can be computed.
 */
static void put_list(const struct page *page, const struct diagnosis *diagnosis, const char *lead,
                     size_t reader)
{
    char list[1024] = "";
    size_t used = 0;

    for (size_t i = 0; i < diagnosis->count && used < sizeof list; i++) {
        const struct examined *component = &diagnosis->components[i];
        struct readers readers = examined_readers(component, page->machine);
        bool measured = *(bool *)((char *)&readers + reader);

        if (measured && (reader == offsetof(struct readers, estimate) || !readers.estimate)) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ":" : "",
                                     component->name);
        }
    }
    doctor_text_put_line(page, lead, used ? list : "nothing");
}

static void put_summary(const struct page *page, const struct diagnosis *diagnosis)
{
    bool known = false, estimate = false;

    for (size_t i = 0; i < diagnosis->count; i++) {
        known |= diagnosis->components[i].ways[0].ordinary.known;
        estimate |= examined_readers(&diagnosis->components[i], page->machine).estimate;
    }
    puts("\nwhat can be measured here:");
    if (page->machine->uid != 0) {
        put_list(page, diagnosis, "you, with atime -c", offsetof(struct readers, me));
    }
    put_list(page, diagnosis, "root, srun --apapi=", offsetof(struct readers, root));
    /* Not known in a user namespace, where this process cannot become another user. */
    if (page->machine->uid == 0 && known) {
        put_list(page, diagnosis, "ordinary users, atime", offsetof(struct readers, ordinary));
    }
    if (estimate) {
        put_list(page, diagnosis, "computed only", offsetof(struct readers, estimate));
    }
}

static void put_folder(const struct page *page, const struct site *site, const char *key,
                       const char *path)
{
    char text[sizeof site->troubles[0].reason.text + 64];

    snprintf(text, sizeof text, "%s", path);
    for (size_t i = 0; i < site->trouble_count; i++) {
        if (strcmp(site->troubles[i].key, key) == 0) {
            snprintf(text, sizeof text, "no records can be written: %s",
                     site->troubles[i].reason.text);
        }
    }
    doctor_text_put_line(page, key, text);
}

/* Only root can know whether a folder can be written to. Others see what they can check. */
static void doctor_text_put_site(const struct page *page, const struct site *site)
{
    if (site->trouble_count == 0 && page->machine->uid != 0) {
        return;
    }
    puts("\nwhat apapi.conf says:");
    put_folder(page, site, "acct_dir", site->acct_dir);
    put_folder(page, site, "spool_dir", site->spool_dir);
    for (size_t i = 0; i < site->trouble_count; i++) {
        const char *key = site->troubles[i].key;

        if (strcmp(key, "acct_dir") != 0 && strcmp(key, "spool_dir") != 0) {
            doctor_text_put_line(page, key, site->troubles[i].reason.text);
        }
    }
}

static void doctor_print_text(const struct diagnosis *diagnosis, size_t width)
{
    struct page page = {.machine = &diagnosis->machine, .width = width};

    printf("%s%s; user %s",
           page.machine->virtual_machine ? "virtual machine" : "no virtual machine",
           page.machine->container ? ", in a container" : "", page.machine->user);
    if (page.machine->perf_event_paranoid != PARANOID_UNKNOWN) {
        printf("; perf_event_paranoid %d", page.machine->perf_event_paranoid);
    }
    putchar('\n');
    for (size_t i = 0; i < diagnosis->count; i++) {
        doctor_text_put_component(&page, &diagnosis->components[i]);
    }
    put_summary(&page, diagnosis);
    doctor_text_put_site(&page, &diagnosis->site);
}

/* --- for programs, described in apapi-doctor(1); unknown values have no key --- */

static void doctor_json_site(struct json_writer *json, const struct site *site)
{
    json_begin_object(json, "site");
    json_put_text(json, "acct_dir", site->acct_dir);
    json_put_text(json, "spool_dir", site->spool_dir);
    json_begin_array(json, "troubles");
    for (size_t i = 0; i < site->trouble_count; i++) {
        json_begin_object(json, NULL);
        json_put_text(json, "key", site->troubles[i].key);
        json_put_text(json, "reason", site->troubles[i].reason.text);
        json_end(json);
    }
    json_end(json);
    json_end(json);
}

static void doctor_json_open_way(struct json_writer *json, const struct finding *finding)
{
    json_put_text(json, "detail", finding->detail);
    json_put_count(json, "events", finding->events);
    json_put_count(json, "in_trouble", finding->trouble_count);
    json_put_flag(json, "estimated", finding->estimated);
    json_begin_array(json, "troubles");
    for (size_t i = 0; i < finding->trouble_count && i < TROUBLES_MAX; i++) {
        json_begin_object(json, NULL);
        json_put_text(json, "event", finding->troubles[i].event);
        json_put_flag(json, "dead", finding->troubles[i].dead);
        json_put_text(json, "reason", finding->troubles[i].text);
        json_end(json);
    }
    json_end_or_drop(json);
}

/* The remedy for this user or, if not needed, for other users. */
static const char *doctor_json_remedy(const struct examined *component,
                                      const struct examined_way *way, const struct machine *machine)
{
    const char *remedy = NULL;

    if (finding_matters(component, &way->mine, machine)) {
        remedy = remedy_find(component, way, &way->mine, machine);
    } else if (way_works(way) && way->ordinary.error) {
        remedy = remedy_find(component, way, &way->ordinary, machine);
    }
    return remedy ? remedy : "";
}

static void doctor_json_way(struct json_writer *json, const struct examined *component,
                            const struct examined_way *way, const struct machine *machine)
{
    json_begin_object(json, NULL);
    json_put_text(json, "source", apapi_source_name(way->way.source));
    json_put_text(json, "name", way->way.name);
    json_put_flag(json, "works", way_works(way));
    if (way->mine.error) {
        json_put_error(json, way->mine.error, way->mine.reason.text);
    } else {
        doctor_json_open_way(json, &way->mine);
    }
    if (way->ordinary.known) {
        json_begin_object(json, "ordinary_users");
        json_put_flag(json, "opens", way->ordinary.error == 0);
        if (way->ordinary.error) {
            json_put_error(json, way->ordinary.error, way->ordinary.reason.text);
        }
        json_end(json);
    }
    json_put_word(json, "remedy", doctor_json_remedy(component, way, machine));
    json_end(json);
}

static void doctor_json_component(struct json_writer *json, const struct examined *component,
                                  const struct machine *machine)
{
    struct readers readers = examined_readers(component, machine);

    json_begin_object(json, NULL);
    json_put_text(json, "name", component->name);
    json_put_flag(json, "readable", readers.me);
    json_put_flag(json, "readable_by_root", readers.root);
    if (component->ways[0].ordinary.known) {
        json_put_flag(json, "readable_by_all", readers.ordinary);
    }
    json_put_flag(json, "estimated", readers.estimate);
    json_begin_array(json, "ways");
    for (size_t i = 0; i < component->way_count; i++) {
        doctor_json_way(json, component, &component->ways[i], machine);
    }
    json_end(json);
    json_end(json);
}

static int doctor_print_json(const struct diagnosis *diagnosis)
{
    struct json_writer json = {.out = stdout};

    json_begin_object(&json, NULL);
    json_put_count(&json, "version", 1);
    json_begin_object(&json, "machine");
    json_put_flag(&json, "virtual_machine", diagnosis->machine.virtual_machine);
    json_put_flag(&json, "container", diagnosis->machine.container);
    json_put_text(&json, "user", diagnosis->machine.user);
    json_put_integer(&json, "uid", diagnosis->machine.uid);
    if (diagnosis->machine.perf_event_paranoid != PARANOID_UNKNOWN) {
        json_put_integer(&json, "perf_event_paranoid", diagnosis->machine.perf_event_paranoid);
    }
    json_end(&json);
    doctor_json_site(&json, &diagnosis->site);
    json_begin_array(&json, "components");
    for (size_t i = 0; i < diagnosis->count; i++) {
        doctor_json_component(&json, &diagnosis->components[i], &diagnosis->machine);
    }
    json_end(&json);
    json_end(&json);
    return json_finish(&json);
}

/* --- --slurm: what Slurm's energy plugin lacks on this host --- */

#define TYPE "acct_gather_energy/apapi"
#define PLUGIN "acct_gather_energy_apapi.so"

/* Values of slurm.conf; "": none. */
struct slurm {
    char type[256], folders[PATH_MAX], controllers[1024];
    size_t width;
    bool lacking;
};

static void slurm_put(struct slurm *slurm, bool lacking, const char *lead, const char *text)
{
    printf("%-*s", LEAD_COLUMNS, lead);
    terminal_put(stdout, text, LEAD_COLUMNS, slurm->width);
    slurm->lacking = slurm->lacking || lacking;
}

static void slurm_set(char *text, size_t size, const char *value)
{
    snprintf(text, size, "%.*s", slurm_conf_length(value), value);
}

static void slurm_take(char *line, void *context)
{
    struct slurm *slurm = context;
    const char *value;

    if ((value = slurm_conf_find(line, "AcctGatherEnergyType"))) {
        slurm_set(slurm->type, sizeof slurm->type, value);
    }
    if ((value = slurm_conf_find(line, "PluginDir"))) {
        slurm_set(slurm->folders, sizeof slurm->folders, value);
    }
    if ((value = slurm_conf_find(line, "SlurmctldHost"))) {
        size_t length = strlen(slurm->controllers);

        snprintf(slurm->controllers + length, sizeof slurm->controllers - length, "%s%.*s",
                 length ? ", " : "", (int)strcspn(value, "( \t\r\n"), value);
    }
}

/* With slurm.conf of its own, or that of a slurmd that gets it from slurmctld. */
static const char *slurm_conf_path(void)
{
    static const char *const usual[] = {"/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf"};
    const char *named = secure_getenv("SLURM_CONF");

    if (named && *named) {
        return access(named, R_OK) == 0 ? named : NULL;
    }
    for (size_t i = 0; i < COUNT_OF(usual); i++) {
        if (access(usual[i], R_OK) == 0) {
            return usual[i];
        }
    }
    return NULL;
}

static bool slurm_lists(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (; *list; list += strcspn(list, ","), list += *list == ',') {
        if (strcspn(list, ",") == length && strncmp(list, word, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Without PluginDir, Slurm looks where its own plugins are. */
static bool slurm_is_own_folder(const char *folder)
{
    char pattern[PATH_MAX + 16];
    glob_t found;
    bool own;

    snprintf(pattern, sizeof pattern, "%s/select_*.so", folder);
    own = glob(pattern, 0, NULL, &found) == 0;
    globfree(&found);
    return own;
}

/* @return whether one of the folders, "a:b", has the plugin: `path` */
static bool slurm_find_plugin(const char *folders, char *path, size_t size)
{
    for (; *folders; folders += strcspn(folders, ":"), folders += *folders == ':') {
        snprintf(path, size, "%.*s/" PLUGIN, (int)strcspn(folders, ":"), folders);
        if (access(path, R_OK) == 0) {
            return true;
        }
    }
    return false;
}

static void slurm_look_at_plugin(struct slurm *slurm)
{
    char path[PATH_MAX + sizeof PLUGIN], ours[PATH_MAX], text[3 * PATH_MAX];
    bool here;

    config_plugin_folder(ours);
    if (!*slurm->folders && slurm_is_own_folder(ours)) {
        snprintf(slurm->folders, sizeof slurm->folders, "%s", ours);
    }
    slurm_put(slurm, false, "PluginDir",
              *slurm->folders ? slurm->folders : "not set: Slurm's own folder alone");
    if (slurm_find_plugin(slurm->folders, path, sizeof path)) {
        slurm_put(slurm, false, "plugin", path);
        return;
    }
    here = slurm_find_plugin(ours, path, sizeof path);
    snprintf(text, sizeof text,
             "missing: no folder of PluginDir has " PLUGIN
             "; slurmctld and slurmd do not start without it%s%s",
             here ? ". In slurm.conf: PluginDir=FOLDER OF SLURM'S PLUGINS:"
                  : ". Install the package slurm-acct-energy-apapi, or build APAPI here",
             here ? ours : "");
    slurm_put(slurm, true, "plugin", text);
}

static bool doctor_slurm(size_t width)
{
    struct slurm slurm = {.width = width};
    const char *path = slurm_conf_path();
    char text[sizeof slurm.controllers + 160];

    if (!path) {
        slurm_put(&slurm, true, "slurm.conf", "missing, or not readable; SLURM_CONF names it");
        return false;
    }
    slurm_conf_each(path, slurm_take, &slurm);
    slurm_put(&slurm, false, "slurm.conf", path);
    if (slurm_lists(slurm.type, TYPE)) {
        slurm_put(&slurm, false, "AcctGatherEnergyType", slurm.type);
    } else {
        snprintf(text, sizeof text, "%s: without " TYPE, *slurm.type ? slurm.type : "not set");
        slurm_put(&slurm, true, "AcctGatherEnergyType", text);
    }
    slurm_look_at_plugin(&slurm);
    snprintf(text, sizeof text, "on the hosts of slurmctld (%s) and on every node; ask there, too",
             *slurm.controllers ? slurm.controllers : "SlurmctldHost");
    slurm_put(&slurm, false, "needed", text);
    return !slurm.lacking;
}

/* --- the command --- */

struct doctor_options {
    bool json, slurm;
};

static const struct option_row options[] = {
    {0, "json", NULL, "for programs", TO_FLAG(struct doctor_options, json)},
    {0, "slurm", NULL, "only what Slurm's energy plugin lacks here, see apapi-doctor(1)",
     TO_FLAG(struct doctor_options, slurm)},
    {0}};

static const struct option_table table = {
    .program = "apapi doctor",
    .head = "usage: apapi doctor [OPTION]... [COMPONENT]...\n"
            "Try every way to read a component: whether it works, for whom, why not, and what\n"
            "would help. Every counter is read twice: one that stands still is dead. Without\n"
            "COMPONENT: all components that APAPI knows a way for.\n",
    .foot = "Exit status: 0 you can measure all named components (without names: any), 1 you\n"
            "cannot, 2 wrong usage.\n",
    .column = 17,
    .rows = options};

static void doctor_command_prepare(struct diagnosis *diagnosis, const struct wanted *wanted)
{
    for (size_t i = 0; i < wanted->count; i++) {
        const char *name = wanted->components[i].name;
        struct examined *component = &diagnosis->components[diagnosis->count];
        struct apapi_way ways[APAPI_WAYS_MAX];

        if (wanted->named || apapi_catalog_has_route(name)) {
            component->name = name;
            component->way_count = apapi_catalog_ways(name, ways);
            for (size_t k = 0; k < component->way_count; k++) {
                component->ways[k].way = ways[k];
            }
            diagnosis->count++;
        }
    }
}

static int status_of(const struct diagnosis *diagnosis, bool named)
{
    size_t measured = 0;

    for (size_t i = 0; i < diagnosis->count; i++) {
        struct readers readers = examined_readers(&diagnosis->components[i], &diagnosis->machine);

        measured += readers.me && (named || !readers.estimate);
    }
    return measured > 0 && (!named || measured == diagnosis->count) ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int doctor_command_run(bool json, int count, char *const words[])
{
    static struct diagnosis diagnosis;
    static struct wanted wanted;
    struct apapi_error err;

    if (wanted_parse(count, words, &wanted, &err)) {
        return command_refuse("doctor", err.text);
    }
    machine_look(&diagnosis.machine);
    site_look(&diagnosis.site);
    doctor_command_prepare(&diagnosis, &wanted);
    for (size_t i = 0; i < diagnosis.count; i++) {
        for (size_t k = 0; k < diagnosis.components[i].way_count; k++) {
            examine(&diagnosis.components[i].ways[k]);
        }
    }
    if (!json) {
        doctor_print_text(&diagnosis, terminal_width());
    } else if (doctor_print_json(&diagnosis)) {
        return command_fail("doctor", "no memory");
    }
    return command_finish("doctor", status_of(&diagnosis, wanted.named));
}

int doctor_command(int argc, char **argv)
{
    struct doctor_options chosen = {0};
    int status = command_options(&table, argc, argv, &chosen);

    if (status >= 0) {
        return status;
    }
    if (!chosen.slurm) {
        return doctor_command_run(chosen.json, argc - optind, argv + optind);
    }
    if (chosen.json || optind < argc) {
        return command_refuse("doctor", "--slurm has neither --json nor a COMPONENT");
    }
    return command_finish("doctor", doctor_slurm(terminal_width()) ? EXIT_SUCCESS : EXIT_FAILURE);
}

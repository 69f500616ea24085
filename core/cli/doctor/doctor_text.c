/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi doctor for people. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/doctor/doctor.h"
#include "cli/grid.h"

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

static void doctor_text_put_machine(const struct machine *machine)
{
    printf("%s%s; user %s", machine->virtual_machine ? "virtual machine" : "no virtual machine",
           machine->container ? ", in a container" : "", machine->user);
    if (machine->perf_event_paranoid != PARANOID_UNKNOWN) {
        printf("; perf_event_paranoid %d", machine->perf_event_paranoid);
    }
    putchar('\n');
}

static const char *doctor_text_verdict(const struct examined *component,
                                       const struct machine *machine)
{
    struct readers readers = examined_readers(component, machine);

    if (readers.me && examined_is_estimate(component)) {
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

static void doctor_text_put_way(const struct page *page, const struct examined_way *way)
{
    char lead[LEAD_SIZE];

    snprintf(lead, sizeof lead, "%s %s", apapi_source_name(way->way.source), way->way.name);
    if (way->mine.error) {
        doctor_text_put_line(page, lead, way->mine.reason.text);
    } else {
        doctor_text_put_open_way(page, lead, &way->mine);
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
        doctor_text_put_way(page, &component->ways[i]);
    }
}

/* @return for which component a remedy was shown first; NULL: for none yet. */
static const char *first_shown_for(const struct page *page, const char *remedy)
{
    for (size_t i = 0; i < page->shown_count; i++) {
        if (page->shown[i].remedy == remedy) {
            return page->shown[i].component;
        }
    }
    return NULL;
}

/* @return false if it was shown for this component before. */
static bool note_remedy(struct page *page, const char *component, const char *remedy)
{
    for (size_t i = 0; i < page->shown_count; i++) {
        if (page->shown[i].remedy == remedy && page->shown[i].component == component) {
            return false;
        }
    }
    if (page->shown_count < SHOWN_MAX) {
        page->shown[page->shown_count].remedy = remedy;
        page->shown[page->shown_count++].component = component;
    }
    return true;
}

static void doctor_text_put_rights(const struct page *page, const struct finding *finding)
{
    char rights[256];

    machine_rights(finding->error == EACCES ? finding->reason.text : "", rights, sizeof rights);
    if (*rights) {
        doctor_text_put_line(page, "rights", rights);
    }
}

static void doctor_text_put_remedy(struct page *page, const struct examined *component,
                                   const struct examined_way *way, const struct finding *finding)
{
    const char *remedy = remedy_find(component, way, finding, page->machine);
    const char *before = remedy ? first_shown_for(page, remedy) : NULL;
    char text[APAPI_COMPONENT_SIZE + 8];

    if (!remedy || !note_remedy(page, component->name, remedy)) {
        return;
    }
    if (before) {
        snprintf(text, sizeof text, "as %s", before);
        doctor_text_put_line(page, "to fix it", text);
    } else {
        doctor_text_put_rights(page, finding);
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

/* One line of the summary: the components for which `is` is true, in the form of --apapi=. */
static void put_list(const struct page *page, const struct diagnosis *diagnosis, const char *lead,
                     bool (*is)(const struct examined *component, const struct machine *machine))
{
    char list[1024] = "";
    size_t used = 0;

    for (size_t i = 0; i < diagnosis->count && used < sizeof list; i++) {
        const struct examined *component = &diagnosis->components[i];

        if (is(component, page->machine)) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ":" : "",
                                     component->name);
        }
    }
    doctor_text_put_line(page, lead, used ? list : "nothing");
}

static bool measured_by_me(const struct examined *component, const struct machine *machine)
{
    return !examined_is_estimate(component) && examined_readers(component, machine).me;
}

static bool measured_by_all(const struct examined *component, const struct machine *machine)
{
    return !examined_is_estimate(component) && examined_readers(component, machine).ordinary;
}

static bool measured_by_root(const struct examined *component, const struct machine *machine)
{
    return !examined_is_estimate(component) && examined_readers(component, machine).root;
}

static bool computed(const struct examined *component, const struct machine *machine)
{
    (void)machine;
    return examined_is_estimate(component);
}

/* Not known in a user namespace, where this process cannot become another user. */
static bool ordinary_is_known(const struct diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->count; i++) {
        if (diagnosis->components[i].ways[0].ordinary.known) {
            return true;
        }
    }
    return false;
}

static void put_summary(const struct page *page, const struct diagnosis *diagnosis)
{
    puts("\nwhat can be measured here:");
    if (page->machine->uid == 0) {
        put_list(page, diagnosis, "root, srun --apapi=", measured_by_root);
        if (ordinary_is_known(diagnosis)) {
            put_list(page, diagnosis, "ordinary users, atime", measured_by_all);
        }
    } else {
        put_list(page, diagnosis, "you, with atime -c", measured_by_me);
        put_list(page, diagnosis, "root, srun --apapi=", measured_by_root);
    }
    for (size_t i = 0; i < diagnosis->count; i++) {
        if (computed(&diagnosis->components[i], page->machine)) {
            put_list(page, diagnosis, "computed only", computed);
            return;
        }
    }
}

static void put_folder(const struct page *page, const struct site *site, const char *key,
                       const char *path)
{
    const char *trouble = site_trouble_of(site, key);
    char text[sizeof site->troubles[0].reason.text + 64];

    if (trouble) {
        snprintf(text, sizeof text, "no records can be written: %s", trouble);
    }
    doctor_text_put_line(page, key, trouble ? text : path);
}

static bool is_folder_key(const char *key)
{
    return strcmp(key, "acct_dir") == 0 || strcmp(key, "spool_dir") == 0;
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
        if (!is_folder_key(site->troubles[i].key)) {
            doctor_text_put_line(page, site->troubles[i].key, site->troubles[i].reason.text);
        }
    }
}

void doctor_print_text(const struct diagnosis *diagnosis, size_t width)
{
    struct page page = {.machine = &diagnosis->machine, .width = width};

    doctor_text_put_machine(page.machine);
    for (size_t i = 0; i < diagnosis->count; i++) {
        doctor_text_put_component(&page, &diagnosis->components[i]);
    }
    put_summary(&page, diagnosis);
    doctor_text_put_site(&page, &diagnosis->site);
}

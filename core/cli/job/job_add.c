/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which records of a job are kept where there are too many. A user can write any number of steps
 * that say that they are part of another user's job: they must not take the room of its own.
 */

#include "base/array.h"
#include "cli/job/job_view.h"
#include "record/members.h"

static bool show_is_own(const struct show *show, const struct apapi_identity *id)
{
    return show->job == 0 || id->job == show->job;
}

static bool show_is_of(const struct show *show, const struct show_share *share,
                       const struct apapi_identity *id)
{
    return share->own == show_is_own(show, id) && share->uid == id->uid;
}

/* NULL with ENOMEM. */
static struct show_share *show_find_share(struct show *show, const struct apapi_identity *id)
{
    for (size_t i = 0; i < show->share_count; i++) {
        if (show_is_of(show, &show->shares[i], id)) {
            return &show->shares[i];
        }
    }
    if (array_add(&show->shares, show->share_count, &show->share_room, sizeof *show->shares)) {
        return NULL;
    }
    show->shares[show->share_count] =
        (struct show_share){.own = show_is_own(show, id), .uid = id->uid};
    return &show->shares[show->share_count++];
}

/* Of those that are not the job's own; NULL: nobody has more than `share`. */
static struct show_share *show_find_greatest(struct show *show, const struct show_share *share)
{
    size_t count = share->own ? 0 : share->count + 1;
    struct show_share *greatest = NULL;

    for (size_t i = 0; i < show->share_count; i++) {
        if (!show->shares[i].own && show->shares[i].count > count) {
            greatest = &show->shares[i];
            count = greatest->count;
        }
    }
    return greatest;
}

static void show_remove_last(struct show *show, struct show_share *share)
{
    size_t last = show->count - 1;

    while (!show_is_of(show, share, &show->records[last].id)) {
        last--;
    }
    apapi_record_clear(&show->records[last]);
    show->records[last] = show->records[--show->count];
    share->count--;
    share->left_out++;
    show->left_out++;
}

/* @return whether there is room for a record of this share. */
static bool show_make_room(struct show *show, struct show_share *share)
{
    struct show_share *greatest;

    if (show->count < SHOW_RECORDS_MAX) {
        return true;
    }
    greatest = show_find_greatest(show, share);
    if (!greatest) {
        share->left_out++;
        show->left_out++;
        return false;
    }
    show_remove_last(show, greatest);
    return true;
}

int show_add(struct show *show, const struct apapi_record *record, const char *line, size_t size)
{
    struct show_share *share = show_find_share(show, &record->id);

    if (!share) {
        return -1;
    }
    if (!show_make_room(show, share)) {
        return 0;
    }
    if (array_add(&show->records, show->count, &show->room, sizeof *show->records)) {
        return -1;
    }
    if (!line) {
        show->records[show->count] = *record;
        if (regions_copy(&show->records[show->count].regions, &record->regions)) {
            return -1;
        }
    } else if (apapi_record_decode(line, size, &show->records[show->count], NULL)) {
        return -1;
    }
    show->count++;
    share->count++;
    return 0;
}

/* Is there a record of this share? */
static bool show_has_share(const struct show *show, const struct show_share *share)
{
    for (size_t i = 0; i < show->count; i++) {
        if (show_is_of(show, share, &show->records[i].id)) {
            return true;
        }
    }
    return false;
}

void show_forget_strangers(struct show *show)
{
    show->left_out = 0;
    for (size_t i = 0; i < show->share_count; i++) {
        show->left_out += show_has_share(show, &show->shares[i]) ? show->shares[i].left_out : 0;
    }
}

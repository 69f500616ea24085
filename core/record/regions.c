/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/regions.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/record.h"
#include "base/clock.h"

bool regions_exist(const struct apapi_regions *regions)
{
    const struct apapi_region_losses none = {0};

    return regions->count > 0 || regions->fom_count > 0 ||
           memcmp(&regions->losses, &none, sizeof(none)) != 0;
}

struct apapi_region_result region_unmeasured(void)
{
    struct apapi_region_result region = {.programs = APAPI_UNKNOWN, .threads = APAPI_UNKNOWN};

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        region.domains[d] = (struct apapi_region_energy){NAN, NAN, NAN};
    }
    return region;
}

double region_power_w(const struct apapi_region_result *region, enum apapi_domain domain)
{
    return region->time_ns > 0
               ? region->domains[domain].energy_j * NS_PER_S / (double)region->time_ns
               : NAN;
}

/* What is encoded. */
struct regions_encoding {
    const struct apapi_regions *regions;
    const struct apapi_region_result *region;
    bool whole;
};

static int regions_put_domain(json_t *object, const void *context, size_t d)
{
    const struct regions_encoding *encoding = context;
    const struct apapi_region_energy *energy = &encoding->region->domains[d];
    int rc = isnan(energy->energy_j) ? FIELDS_NONE
                                     : fields_encode(object, fields_of_region_energy, energy);

    if (rc == FIELDS_WRITTEN && !encoding->whole) {
        json_object_del(object, "power_w");
    }
    return rc;
}

/* {"bin_s": 0.4, "share_pct": [100, 55]} */
static int regions_put_bins(json_t *object, const struct apapi_region_result *region)
{
    json_t *bins = json_object(), *shares = json_array();
    int rc = field_put(object, "bins", bins);

    if (rc != FIELDS_WRITTEN ||
        field_put(bins, "bin_s", json_real((double)region->bin_ns / NS_PER_S))) {
        json_decref(shares);
        return FIELDS_OUT_OF_MEMORY;
    }
    rc = field_put(bins, "share_pct", shares);
    for (uint32_t i = 0; i < region->bins && rc == FIELDS_WRITTEN; i++) {
        rc = json_array_append_new(shares, json_integer(region->share_pct[i]));
    }
    return rc;
}

static int regions_put_one(json_t *object, const void *context, size_t i)
{
    struct regions_encoding encoding = *(const struct regions_encoding *)context;

    encoding.region = &encoding.regions->list[i];
    if (fields_encode(object, fields_of_region, encoding.region) < 0 ||
        fields_put_domains(object, "domains", regions_put_domain, &encoding) < 0) {
        return FIELDS_OUT_OF_MEMORY;
    }
    fields_drop_empty(object, "domains");
    return encoding.region->bins > 0 ? regions_put_bins(object, encoding.region) : FIELDS_WRITTEN;
}

static int regions_put_fom(json_t *object, const void *regions, size_t i)
{
    return fields_encode(object, fields_of_fom, &((const struct apapi_regions *)regions)->foms[i]);
}

int regions_encode(json_t *root, const struct apapi_regions *regions, bool whole)
{
    const struct regions_encoding encoding = {.regions = regions, .whole = whole};
    json_t *losses = fields_object(fields_of_losses, &regions->losses);
    int rc = losses ? FIELDS_WRITTEN : FIELDS_OUT_OF_MEMORY;

    if (regions->count > 0 && rc == FIELDS_WRITTEN) {
        rc = fields_put_list(root, "regions", regions->count, regions_put_one, &encoding);
    }
    if (regions->fom_count > 0 && rc == FIELDS_WRITTEN) {
        rc = fields_put_list(root, "foms", regions->fom_count, regions_put_fom, regions);
    }
    if (json_object_size(losses) > 0 && rc == FIELDS_WRITTEN) {
        return field_put(root, "regions_lost", losses);
    }
    json_decref(losses);
    return rc;
}

static int regions_decode_domains(const struct tree_node *domains,
                                  struct apapi_region_result *region, const struct field_path *path)
{
    const struct field_path here = {path, "domains", NULL, path->err};

    if (domains && domains->type != TREE_OBJECT) {
        return field_fail(path, "domains", "not an object");
    }
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const struct tree_node *domain = tree_get(domains, apapi_domain_name(d));
        const struct field_path inner = {&here, apapi_domain_name(d), NULL, path->err};

        if (domain &&
            fields_decode(domain, fields_of_region_energy, &region->domains[d], &inner) < 0) {
            return -1;
        }
        if (isnan(region->domains[d].power_w)) {
            region->domains[d].power_w = region_power_w(region, d);
        }
    }
    return 0;
}

static int regions_decode_bins(const struct tree_node *bins, struct apapi_region_result *region,
                               const struct field_path *path)
{
    const struct tree_node *shares = tree_get(bins, "share_pct"), *share;
    double bin_ns = tree_number(tree_get(bins, "bin_s")) * NS_PER_S;

    if (!bins) {
        return 0;
    }
    if (!shares || shares->type != TREE_ARRAY || shares->size > APAPI_REGION_BINS ||
        !(bin_ns >= 1 && bin_ns < 1e18)) {
        return field_fail(path, "bins", "not a width and at most 60 shares");
    }
    share = shares->size > 0 ? tree_first(shares) : NULL;
    for (uint32_t i = 0; i < shares->size; i++) {
        double pct = tree_is_number(share) ? tree_number(share) : -1;

        if (!(pct >= 0 && pct <= 100)) {
            return field_fail(path, "bins", "a share that is no percentage");
        }
        region->share_pct[i] = (uint8_t)pct;
        share = i + 1 < shares->size ? tree_next(share) : share;
    }
    region->bins = shares->size;
    region->bin_ns = (uint64_t)(bin_ns + 0.5);
    return 0;
}

static int regions_decode_one(const struct tree_node *object, void *element, const void *context,
                              const struct field_path *path)
{
    struct apapi_region_result *region = element;

    (void)context;
    *region = region_unmeasured();
    return fields_decode(object, fields_of_region, region, path) < 0 ||
                   regions_decode_domains(tree_get(object, "domains"), region, path) < 0
               ? -1
               : regions_decode_bins(tree_get(object, "bins"), region, path);
}

static int regions_decode_fom(const struct tree_node *object, void *fom, const void *context,
                              const struct field_path *path)
{
    (void)context;
    return fields_decode(object, fields_of_fom, fom, path);
}

int regions_decode(const struct tree_node *root, struct apapi_regions *regions,
                   const struct field_path *path)
{
    const struct fields_list list = {.key = "regions",
                                     .size = sizeof(*regions->list),
                                     .count = &regions->count,
                                     .read = regions_decode_one};
    const struct fields_list foms = {.key = "foms",
                                     .size = sizeof(*regions->foms),
                                     .count = &regions->fom_count,
                                     .read = regions_decode_fom};
    const struct field_path lost = {path, "regions_lost", NULL, path->err};
    const struct tree_node *losses = tree_get(root, "regions_lost");

    if (fields_decode_list(root, &list, &regions->list, path) < 0 ||
        fields_decode_list(root, &foms, &regions->foms, path) < 0) {
        return -1;
    }
    return losses ? fields_decode(losses, fields_of_losses, &regions->losses, &lost) : 0;
}

char *regions_text(const struct apapi_regions *regions)
{
    json_t *object = json_object();

    return fields_text(object, regions_encode(object, regions, false));
}

int regions_parse(const char *text, size_t size, struct apapi_regions *regions)
{
    const struct field_path nowhere = {NULL, "", NULL, NULL};
    struct tree_problem problem;
    struct tree tree = {0};
    int result = tree_parse(&tree, text, size, &problem);

    *regions = (struct apapi_regions){0};
    if (result == 0) {
        result = regions_decode(tree.nodes, regions, &nowhere);
    }
    if (result) {
        apapi_regions_clear(regions);
    }
    tree_free(&tree);
    return result;
}

static void *regions_copy_array(const void *from, size_t count, size_t size)
{
    void *copy = malloc(count * size + 1); /* an empty one, too */

    if (copy && count > 0) {
        memcpy(copy, from, count * size);
    }
    return copy;
}

int regions_copy(struct apapi_regions *copy, const struct apapi_regions *regions)
{
    struct apapi_regions result = *regions;

    result.list = regions_copy_array(regions->list, regions->count, sizeof(*regions->list));
    result.foms = regions_copy_array(regions->foms, regions->fom_count, sizeof(*regions->foms));
    if (!result.list || !result.foms) {
        apapi_regions_clear(&result);
        errno = ENOMEM;
        return -1;
    }
    *copy = result;
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/share.h"

#include <math.h>

struct apapi_share apapi_share_unknown(void)
{
    struct apapi_share share = {.method = ""};

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        share.domains[d] = (struct apapi_share_energy){NAN, NAN, NAN, NAN};
    }
    return share;
}

bool apapi_share_known(const struct apapi_share *share)
{
    return share->method[0] != '\0';
}

double apapi_share_energy_j(const struct apapi_share *share)
{
    double sum_j = NAN;

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        double energy_j = share->domains[d].energy_j;

        if (apapi_domain_adds_up(d) && apapi_share_known(share) && !isnan(energy_j)) {
            sum_j = (isnan(sum_j) ? 0 : sum_j) + energy_j;
        }
    }
    return sum_j;
}

double apapi_share_uncertainty_j(const struct apapi_share *share)
{
    double sum_j = isnan(apapi_share_energy_j(share)) ? NAN : 0;

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (apapi_domain_adds_up(d) && !isnan(share->domains[d].energy_j)) {
            sum_j += share->domains[d].uncertainty_j;
        }
    }
    return sum_j;
}

static int share_put_domain(json_t *object, const void *share, size_t d)
{
    const struct apapi_share_energy *energy = &((const struct apapi_share *)share)->domains[d];

    return isnan(energy->energy_j) ? FIELDS_NONE
                                   : fields_encode(object, fields_of_share_energy, energy);
}

static int share_put_total(json_t *object, const struct apapi_share *share)
{
    const struct apapi_share_energy total = {apapi_share_energy_j(share),
                                             apapi_share_uncertainty_j(share), NAN, NAN};

    return isnan(total.energy_j)
               ? FIELDS_WRITTEN
               : field_put(object, "total", fields_object(fields_of_share_energy, &total));
}

json_t *share_object(const struct apapi_share *share)
{
    json_t *object = fields_object(fields_of_share, share);

    if (object && apapi_share_known(share) &&
        (fields_put_domains(object, "domains", share_put_domain, share) < 0 ||
         share_put_total(object, share) < 0)) {
        json_decref(object);
        return NULL;
    }
    return object;
}

int share_encode(json_t *root, const struct apapi_share *share)
{
    return apapi_share_known(share) || share->reason[0]
               ? field_put(root, "share", share_object(share))
               : FIELDS_WRITTEN;
}

static int share_decode_domains(const struct tree_node *domains, struct apapi_share *share,
                                const struct field_path *path)
{
    const struct field_path here = {path, "domains", NULL, path->err};

    if (!tree_is(domains, TREE_OBJECT)) {
        return field_fail(&here, "", domains ? "not an object" : "is missing");
    }
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const struct tree_node *domain = tree_get(domains, apapi_domain_name(d));
        const struct field_path inner = {&here, apapi_domain_name(d), NULL, path->err};

        if (domain &&
            fields_decode(domain, fields_of_share_energy, &share->domains[d], &inner) < 0) {
            return -1;
        }
    }
    return 0;
}

int share_decode(const struct tree_node *object, struct apapi_share *share,
                 const struct field_path *path)
{
    const struct field_path here = {path, "share", NULL, path->err};

    *share = apapi_share_unknown();
    if (!object) {
        return 0;
    }
    if (fields_decode(object, fields_of_share, share, &here) < 0) {
        return -1;
    }
    if (!apapi_share_known(share)) {
        return share->reason[0] ? 0 : field_fail(&here, "method", "is missing, without a reason");
    }
    return share_decode_domains(tree_get(object, "domains"), share, &here);
}

int share_parse(const char *text, size_t size, struct apapi_share *share)
{
    const struct field_path nowhere = {NULL, "", NULL, NULL};
    struct tree_problem problem;
    struct tree tree = {0};
    int result = tree_parse(&tree, text, size, &problem);

    if (result == 0) {
        result = share_decode(tree.nodes, share, &nowhere);
    }
    if (result < 0) {
        *share = apapi_share_unknown();
    }
    tree_free(&tree);
    return result;
}

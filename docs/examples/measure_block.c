/* SPDX-License-Identifier: BSD-3-Clause */
/* Measure a part of a program: ./measure_block [COMPONENTS], for example rapl:nvml */
#include <apapi/measurement.h>
#include <apapi/session.h>
#include <stdio.h>
#include <stdlib.h>

static volatile double result;

/* The part that is measured. It should last several sampling intervals, 100 ms each by default. */
static void work(void)
{
    for (long i = 1; i < 200000000; i++) {
        result += 1.0 / (double)i;
    }
}

static void print(const struct apapi_measurement *m)
{
    printf("elapsed %.3f s\n", (double)m->elapsed_ns / 1e9);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        const struct apapi_domain_result *domain = &m->domains[d];

        if (domain->measured) {
            printf("%s %.3f J +- %.3f J, %.1f W\n", apapi_domain_name((enum apapi_domain)d),
                   domain->energy_j, domain->uncertainty_j, domain->power_w.mean);
        }
    }
    printf("total %.3f J\n", apapi_measurement_total_j(m));
    for (size_t i = 0; i < m->component_count; i++) {
        if (!m->components[i].measured) {
            printf("%s not measured: %s\n", m->components[i].name, m->components[i].reason);
        }
    }
}

int main(int argc, char **argv)
{
    struct apapi_session_config config = {0};
    struct apapi_measurement measurement;
    struct apapi_error err;
    struct apapi_session *session;
    int status = EXIT_FAILURE;

    config.components = argc > 1 ? argv[1] : NULL;
    session = apapi_session_create(&config, &err);
    if (!session) {
        fprintf(stderr, "%s\n", err.text);
        return EXIT_FAILURE;
    }
    if (apapi_session_start(session, 0, &err) == 0) {
        work();
        if (apapi_session_stop(session, &err) == 0 &&
            apapi_session_measurement(session, &measurement, &err) == 0) {
            print(&measurement);
            apapi_measurement_clear(&measurement);
            status = EXIT_SUCCESS;
        }
    }
    if (status != EXIT_SUCCESS) {
        fprintf(stderr, "%s\n", err.text);
    }
    apapi_session_destroy(session);
    return status;
}

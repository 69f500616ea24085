/* SPDX-License-Identifier: BSD-3-Clause */
/* What a picture shows, for the page and for apapi-plot. What is not known of a line is null. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/plot.h"
#include "record/fields.h"
#include "record/text.h"
#include "record/units.h"

#define NS_PER_S 1e9

static int put_line(json_t *array, const char *text)
{
    return json_array_append_new(array, json_string(text));
}

static json_t *series_of(const struct plot_series *series)
{
    json_t *object = json_object(), *powers = json_array();

    if (field_put_text(object, "name", series->name) ||
        field_put_count(object, "colour", series->colour) || field_put(object, "power_w", powers)) {
        json_decref(object);
        return NULL;
    }
    for (int i = 0; i < PLOT_COLUMNS; i++) {
        double rounded_w = round(series->power_w[i] * 1000) / 1000;

        if (json_array_append_new(powers, isnan(rounded_w) ? json_null() : json_real(rounded_w))) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static int put_series(json_t *object, const struct plot_job *job)
{
    json_t *array = json_array();
    int result = field_put(object, "series", array);

    for (size_t i = 0; i < job->series_count && result == 0; i++) {
        result = json_array_append_new(array, series_of(&job->series[i]));
    }
    return result;
}

static void say_line(const char *text, void *array)
{
    char clean[1024];

    text_clean(clean, sizeof clean, text);
    put_line(array, clean);
}

static int put_clean(json_t *object, const char *key, const char *text)
{
    char clean[APAPI_TEXT_SIZE];

    text_clean(clean, sizeof clean, text);
    return *clean ? field_put_text(object, key, clean) : 0;
}

static int put_table(json_t *object, const struct plot_job *job)
{
    char *text = NULL;
    int result =
        show_table(&job->show, job->id, &text) || field_put(object, "table", json_string(text));

    free(text);
    return result;
}

static int put_job(json_t *object, const struct plot_job *job)
{
    const struct show *show = &job->show;
    const struct apapi_identity *id = &show->records[0].id;
    json_t *odd = json_array(), *trust = json_array();
    int result = field_put(object, "odd", odd) || field_put(object, "trust", trust) ||
                 put_clean(object, "job", job->id) || put_clean(object, "job_name", id->job_name) ||
                 put_clean(object, "cluster", id->cluster) || put_clean(object, "user", id->user) ||
                 put_clean(object, "account", id->account) ||
                 put_clean(object, "partition", id->partition) ||
                 field_put_moment(object, "start", show->total.start_unix_ns) ||
                 field_put_moment(object, "end", show->total.end_unix_ns) ||
                 field_put(object, "length_s",
                           json_real((double)(show->total.end_unix_ns - show->total.start_unix_ns) /
                                     NS_PER_S)) ||
                 put_series(object, job) || put_table(object, job);

    if (result == 0) {
        show_find_odd(show, say_line, odd);
        show_say_trust(show, say_line, trust);
    }
    return result;
}

static double greatest_power(const struct plot_job *job, double greatest_w)
{
    for (size_t i = 0; i < job->series_count; i++) {
        for (int c = 0; c < PLOT_COLUMNS; c++) {
            greatest_w = fmax(greatest_w, job->series[i].power_w[c]);
        }
    }
    return greatest_w;
}

json_t *plot_model(const struct plot *plot)
{
    double greatest_w = 0, longest_s = 0;
    json_t *model = json_object(), *jobs = json_array();
    int result = field_put(model, "jobs", jobs) ||
                 field_put_text(model, "by", plot->by_node ? "node" : "domain");

    for (size_t i = 0; i < plot->job_count && result == 0; i++) {
        const struct plot_job *job = plot->jobs[i];
        json_t *object = json_object();
        const struct apapi_job_total *total = &job->show.total;

        result = json_array_append(jobs, object) || put_job(object, job);
        json_decref(object);
        greatest_w = greatest_power(job, greatest_w);
        longest_s = fmax(longest_s, (double)(total->end_unix_ns - total->start_unix_ns) / NS_PER_S);
    }
    if (result || field_put(model, "greatest_w", json_real(greatest_w)) ||
        field_put(model, "longest_s", json_real(longest_s))) {
        json_decref(model);
        return NULL;
    }
    return model;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIMIT_LIMIT_H
#define LIMIT_LIMIT_H
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "apapi/error.h"
#include "apapi/event.h"
#include "config/config.h"
#include "limit/evaluate.h"

/*
 * Limits as users write them, one a line: '[SCOPE] QUANTITY CONDITION [: ACTION[, ACTION]...]'.
 *
 *   SCOPE      node | step | job, where a quantity follows; without: node
 *   QUANTITY   an event (component:::event), a domain, or total; of a step or a job: total
 *   CONDITION  >= 5kJ | every 1kJ | > 600W [for 10s] [hysteresis 20W] | < 100W [for 10s]
 *   ACTION     log | stamp | signal=USR1[@step] | term | exec=COMMAND (the rest of the text)
 *
 * Without an action: log. A budget, '5kWh,warn=80%,signal=USR1', is short for a limit of a step:
 * 'step total >= 5kWh : signal=USR1', and a warning before it. No I/O. Any thread.
 */

#define LIMITS_MAX 64                /* of one session, but for budgets */
#define LIMITS_ROOM (LIMITS_MAX + 4) /* with two budgets and their warnings */
#define LIMIT_TEXT_SIZE 256          /* of scope, quantity and condition, with the NUL [bytes] */
#define LIMIT_COMMAND_SIZE 1024      /* of a command, with the NUL [bytes] */
#define LIMIT_TOTAL_NAME "total"     /* package + dram + gpu */

/** The scope of the energy; its evaluator: the sampler, srun's collector, the batch step. */
enum limit_scope { LIMIT_NODE, LIMIT_STEP, LIMIT_JOB };

/** The quantity of an amount. LIMIT_PLAIN: a bare number, in the unit of the quantity. */
enum limit_unit { LIMIT_PLAIN, LIMIT_ENERGY, LIMIT_POWER, LIMIT_TEMPERATURE, LIMIT_PERCENT };

/** Parts of its text. */
enum limit_part { LIMIT_METER, LIMIT_AMOUNT, LIMIT_UNIT, LIMIT_PARTS };

/** Actions, as bits; of log, signal and term a greater one is stricter. */
enum limit_action {
    LIMIT_LOG = 1,
    LIMIT_STAMP = 2,
    LIMIT_SIGNAL = 4,
    LIMIT_TERM = 8,
    LIMIT_EXEC = 16
};

struct limit {
    char text[LIMIT_TEXT_SIZE]; /* as written: "total >= 5kJ"; "budget of 5kWh, warn=80%" */
    size_t at[LIMIT_PARTS];     /* where these are in `text`, or would be */
    char meter[APAPI_NAME_SIZE];
    enum limit_scope scope;
    enum apapi_overflow_mode condition;
    enum limit_unit unit;
    double amount;     /* [J], [W], [C], [%], or in the unit of the quantity */
    uint64_t hold_ns;  /* for how long a level must hold [ns]; 0: at once */
    double hysteresis; /* as `amount`; 0: none */
    unsigned actions;  /* enum limit_action */
    int signal;        /* of LIMIT_SIGNAL */
    bool whole_step;   /* the signal is for all processes, not for the tasks alone */
    bool whole_job;    /* signal and term are for all steps of the job */
    bool budget;       /* it was written as one */
    bool warning;      /* of the budget before it in the list, when a part of it is used */
    double warn;       /* of a budget: part of the amount that is a warning; 0: none */
    char command[LIMIT_COMMAND_SIZE]; /* of LIMIT_EXEC */
    /* once it is watched: */
    struct crossings *owner;
    struct limit_state state; /* at the limit of a sum; sessions have their own */
    uint64_t count;           /* crossings so far */
    bool waits;               /* its component is still being opened */
};

/** The limits of a session, a step or a job. All members 0: none. */
struct limit_list {
    size_t count;
    struct limit_watch watch; /* those of a sum */
    struct limit limits[LIMITS_ROOM];
};

/**
 * Parse one limit. The quantity need not exist; its name is checked as far as it is a domain.
 * @param err  three lines: what is wrong and what would be valid, the text, a caret at the place
 * @return 0; -1 with errno EINVAL, ERANGE, ENAMETOOLONG. `limit` is set on success only.
 */
int limit_parse(const char *text, struct limit *limit, struct apapi_error *err);

/**
 * The same for AMOUNT[,warn=N%][,signal=NAME|term|log][,scope=step|job]: a limit of a step. The
 * scope of that text says for whom the action is: `whole_job`. Without an action: term.
 */
int limit_parse_budget(const char *text, struct limit *limit, struct apapi_error *err);

/**
 * The same for a value of a site's list: an action alone, or an amount alone. "none", and what is
 * no amount, is INFINITY.
 */
int limit_parse_site(const char *value, bool action, struct limit *result, struct apapi_error *err);

/**
 * Parse one limit and append it.
 * @return 0; -1 with errno as limit_parse(), E2BIG (too many), EEXIST (the same quantity and
 *         condition are in the list). `list` is unchanged then.
 */
int limit_list_add(struct limit_list *list, const char *text, struct apapi_error *err);

/** Append each line of a text. Empty lines are skipped. @return 0; -1 as limit_list_add(). */
int limit_list_parse(struct limit_list *list, const char *lines, struct apapi_error *err);

/**
 * Fill an empty list with limits, one a line, and a budget of a step or a job. NULL and "": none.
 * @return 0; -1 as limit_list_add(): the list has none of the lines, or no budget
 */
int limit_list_fill(struct limit_list *list, enum limit_scope scope, const char *lines,
                    const char *budget, struct apapi_error *err);

/** Append a budget and its warning, of a step or a job. A list has room for two, at least. */
void limit_list_add_budget(struct limit_list *list, const struct limit *budget,
                           enum limit_scope scope);

/** @return whether there are limits of this scope. */
static inline bool limit_list_has(const struct limit_list *list, enum limit_scope scope)
{
    size_t i = 0;

    while (i < list->count && list->limits[i].scope != scope) {
        i++;
    }
    return i < list->count;
}

/** @return "J", "W", "C", "%"; "": that of the quantity. Static storage. */
const char *limit_unit_name(const struct limit *limit);

/** Report that a part of a limit that was parsed is wrong, as limit_parse() does. @return -1 with
 * errno `code` */
int limit_refuse(const struct limit *limit, enum limit_part part, int code, const char *what,
                 struct apapi_error *err);

/**
 * Check the unit and the condition of an event against the kind that it has.
 * @return 0; -1 with errno EINVAL, `err` as limit_parse()
 */
int limit_check_kind(const struct limit *limit, enum apapi_kind kind, struct apapi_error *err);

/** @return whether the quantity is an event, and not a domain or the total. */
bool limit_is_of_event(const struct limit *limit);

/** @return "USR1"; "?" for an unknown number. Static storage. */
const char *limit_signal_name(int signal);

/** @return the signal that signal or term sends first, "USR1"; "": none. Static storage. */
const char *limit_first_signal(const struct limit *limit);

/** Write the actions without the command: "log, signal=USR1@step, exec", "term@job". */
void limit_actions_text(const struct limit *limit, char *text, size_t size);

/* --- the limits of a site --------------------------------------------------------------------- */

/*
 * Section [budget] of apapi.conf. Each value is a list, "20kWh,debug:1kWh,qos=long:50kWh": the
 * first word for all, the others for a partition or a QOS. Words for these replace the word for
 * all; if both have one, the smaller amount and the stricter action apply.
 */
#define LIMIT_SITE_WARN 0.8 /* part of a site's budget at which a line is printed */

/** The lists of a site, and the place where they hold. All borrowed. */
struct limit_site {
    const char *max;             /* NULL: none, as the next two */
    const char *standard;        /* for steps whose user gives no budget */
    const char *action;          /* at these */
    const char *partition, *qos; /* "": not known */
};

/**
 * Check a list of amounts, or of actions.
 * @param max  a list of which no amount may be exceeded; NULL: none
 * @return 0; -1 with errno EINVAL, `err` names the word
 */
int limit_site_check(const char *list, bool actions, const char *max, struct apapi_error *err);

/** @return a list of a configuration; NULL: it has none, or a bad one */
static inline const char *limit_site_list(const struct config *config, const char *key,
                                          const char *max)
{
    const char *list = config_section_value(config, "budget", key);
    bool actions = strcmp(key, "budget_action") == 0;

    return list && limit_site_check(list, actions, max, NULL) == 0 ? list : NULL;
}

/** The lists of a configuration. The place is not known. */
static inline struct limit_site limit_site_of(const struct config *config)
{
    const char *max = limit_site_list(config, "max_budget", NULL);

    return (struct limit_site){max, limit_site_list(config, "default_budget", max),
                               limit_site_list(config, "budget_action", NULL), "", ""};
}

/** @return whether a list depends on partition or QOS. */
bool limit_site_varies(const struct limit_site *site);

/** @return the greatest amount that the site permits [J]; INFINITY: somewhere it has no limit. */
double limit_site_most_j(const struct limit_site *site);

/**
 * Append the site's budget of a step or job: the smaller one of its maximum and, if the user's
 * limits in the list have no budget, its default.
 */
void limit_list_add_site(struct limit_list *list, enum limit_scope scope,
                         const struct limit_site *site);

#endif

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

#define LIMITS_MAX 64                /* limits of one session, without budgets */
#define LIMITS_ROOM (LIMITS_MAX + 4) /* limits with two budgets and their warnings */
#define LIMIT_TEXT_SIZE 256          /* scope, quantity and condition, with the NUL [bytes] */
#define LIMIT_COMMAND_SIZE 1024      /* a command, with the NUL [bytes] */
#define LIMIT_TOTAL_NAME "total"     /* package + dram + gpu */

/** The scope of a limit. Its evaluator: the sampler, srun's collector, the batch step. */
enum limit_scope { LIMIT_NODE, LIMIT_STEP, LIMIT_JOB };

/** The physical quantity of an amount. LIMIT_PLAIN: a bare number, in the event's own unit. */
enum limit_unit { LIMIT_PLAIN, LIMIT_ENERGY, LIMIT_POWER, LIMIT_TEMPERATURE, LIMIT_PERCENT };

/** Parts of a limit's text. */
enum limit_part { LIMIT_METER, LIMIT_AMOUNT, LIMIT_UNIT, LIMIT_PARTS };

/** Actions, as bits. Of log, signal and term, the one with the greater value is stricter. */
enum limit_action {
    LIMIT_LOG = 1,
    LIMIT_STAMP = 2,
    LIMIT_SIGNAL = 4,
    LIMIT_TERM = 8,
    LIMIT_EXEC = 16
};

struct limit {
    char text[LIMIT_TEXT_SIZE]; /* as written: "total >= 5kJ"; "budget of 5kWh, warn=80%" */
    size_t at[LIMIT_PARTS];     /* offset of each part in `text`, or where it would be */
    char meter[APAPI_NAME_SIZE];
    enum limit_scope scope;
    enum apapi_overflow_mode condition;
    enum limit_unit unit;
    double amount;     /* [J], [W], [C], [%], or in the event's own unit */
    uint64_t hold_ns;  /* time for which the value must be beyond a level [ns]; 0: none */
    double hysteresis; /* in the unit of `amount`; 0: none */
    unsigned actions;  /* enum limit_action */
    int signal;        /* number, for LIMIT_SIGNAL */
    bool whole_step;   /* the signal is for all processes of the step, not for its tasks alone */
    bool whole_job;    /* signal and term are for all steps of the job */
    bool budget;       /* the limit is a budget, or its warning */
    bool warning;      /* it warns that the budget before it in the list is used in part */
    double warn;       /* budget: share of the amount at which to warn, 0..1; 0: no warning */
    char command[LIMIT_COMMAND_SIZE]; /* for LIMIT_EXEC */
    /* set once the limit is watched: */
    struct crossings *owner;
    struct limit_state state; /* for the limit of a sum; sessions have their own states */
    uint64_t count;           /* crossings so far */
    bool waits;               /* its component is still being opened */
};

/** The limits of a session, a step or a job. All members 0: none. */
struct limit_list {
    size_t count;
    struct limit_watch watch; /* for limit_list_look() */
    struct limit limits[LIMITS_ROOM];
};

/**
 * Parse one limit. An event need not exist; the name of a domain is checked.
 * @param err  three lines: what is wrong and what would be valid, the text, a caret at the place
 * @return 0; -1 with errno EINVAL, ERANGE, ENAMETOOLONG. `limit` is set on success only.
 */
int limit_parse(const char *text, struct limit *limit, struct apapi_error *err);

/**
 * Like limit_parse(), for AMOUNT[,warn=N%][,signal=NAME|term|log][,scope=step|job]: a limit of a
 * step. The word scope=job sets `whole_job`: the action is for all steps. Without an action: term.
 */
int limit_parse_budget(const char *text, struct limit *limit, struct apapi_error *err);

/**
 * Like limit_parse(), for one value of a site's list: an action alone, or an amount alone. The
 * amount of "none", of an action, and of text that is no amount is INFINITY.
 */
int limit_parse_site(const char *value, bool action, struct limit *result, struct apapi_error *err);

/**
 * Parse one limit and append it.
 * @return 0; -1 with errno as limit_parse(), E2BIG (too many), EEXIST (the same quantity and
 *         condition are in the list). On failure, `list` is unchanged.
 */
int limit_list_add(struct limit_list *list, const char *text, struct apapi_error *err);

/** Append each line of a text. Empty lines are skipped. @return 0; -1 as limit_list_add(). */
int limit_list_parse(struct limit_list *list, const char *lines, struct apapi_error *err);

/**
 * Fill an empty list with limits, one a line, and a budget of a step or a job. NULL and "": none.
 * @return 0; -1 as limit_list_add(): a wrong line leaves out all lines, a wrong budget the budget
 */
int limit_list_fill(struct limit_list *list, enum limit_scope scope, const char *lines,
                    const char *budget, struct apapi_error *err);

/** Append a budget of a step or a job, and its warning. Each list has room for two budgets. */
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

/** @return "J", "W", "C", "%"; NULL: the event's own unit. Static storage. */
const char *limit_unit_name(const struct limit *limit);

/** Report a wrong part of a parsed limit, as limit_parse() does. @return -1 with errno `code` */
int limit_refuse(const struct limit *limit, enum limit_part part, int code, const char *what,
                 struct apapi_error *err);

/**
 * Check the unit and the condition of a limit against the kind of its event.
 * @return 0; -1 with errno EINVAL, `err` as limit_parse()
 */
int limit_check_kind(const struct limit *limit, enum apapi_kind kind, struct apapi_error *err);

/** @return whether the quantity is an event, and not a domain or the total. */
bool limit_is_of_event(const struct limit *limit);

/** @return "USR1"; "?" for an unknown number. Static storage. */
const char *limit_signal_name(int signal);

/** @return the first signal that the actions send, "USR1"; "": none. Static storage. */
const char *limit_first_signal(const struct limit *limit);

/** Write the actions without the command: "log, signal=USR1@step, exec", "term@job". */
void limit_actions_text(const struct limit *limit, char *text, size_t size);

/* --- the limits of a site --------------------------------------------------------------------- */

/*
 * Section [budget] of apapi.conf. Each value is a list, "20kWh,debug:1kWh,qos=long:50kWh": the
 * first word is for all jobs, the others are for a partition or a QOS and replace the first. If the
 * partition and the QOS both have a word, the smaller amount and the stricter action apply.
 */
#define LIMIT_SITE_WARN 0.8 /* part of a site's budget at which a line is printed */

/** The lists of a site, and the partition and QOS of a job. All borrowed. */
struct limit_site {
    const char *max;             /* max_budget; NULL: not set, as the next two */
    const char *standard;        /* default_budget: for steps whose user gives no budget */
    const char *action;          /* budget_action: at either budget */
    const char *partition, *qos; /* "": not known */
};

/**
 * Check a list of amounts, or of actions.
 * @param max  the list max_budget, whose amounts must not be exceeded; NULL: none
 * @return 0; -1 with errno EINVAL, `err` names the word
 */
int limit_site_check(const char *list, bool actions, const char *max, struct apapi_error *err);

/** @return the list `key` of a configuration; NULL: it is missing, or malformed */
static inline const char *limit_site_list(const struct config *config, const char *key,
                                          const char *max)
{
    const char *list = config_section_value(config, "budget", key);
    bool actions = strcmp(key, "budget_action") == 0;

    return list && limit_site_check(list, actions, max, NULL) == 0 ? list : NULL;
}

/** @return the lists of a configuration. Partition and QOS are not known. */
static inline struct limit_site limit_site_of(const struct config *config)
{
    const char *max = limit_site_list(config, "max_budget", NULL);

    return (struct limit_site){max, limit_site_list(config, "default_budget", max),
                               limit_site_list(config, "budget_action", NULL), "", ""};
}

/** @return whether a list depends on partition or QOS. */
bool limit_site_varies(const struct limit_site *site);

/** @return the greatest amount that the site permits [J]; INFINITY: some jobs have no maximum. */
double limit_site_most_j(const struct limit_site *site);

/**
 * Append the site's budget of a step or job: the smaller one of its maximum and its default. The
 * default counts only if the user's limits in the list have no budget.
 */
void limit_list_add_site(struct limit_list *list, enum limit_scope scope,
                         const struct limit_site *site);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "threshold/action.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/count_of.h"
#include "base/word.h"

static const struct signal_name {
    const char *name;
    int number;
} signals[] = {{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"TERM", SIGTERM}, {"INT", SIGINT},
               {"HUP", SIGHUP},   {"QUIT", SIGQUIT}, {"ALRM", SIGALRM}, {"CONT", SIGCONT},
               {"STOP", SIGSTOP}, {"TSTP", SIGTSTP}, {"URG", SIGURG},   {"WINCH", SIGWINCH},
               {"KILL", SIGKILL}};

const char *action_signal_name(int number)
{
    for (size_t i = 0; i < COUNT_OF(signals); i++) {
        if (signals[i].number == number) {
            return signals[i].name;
        }
    }
    return "?";
}

int action_parse_signal(struct place *place, int *number)
{
    size_t length = place_word_length(place, ",@");
    size_t prefix = length > 3 && strncmp(place->at, "SIG", 3) == 0 ? 3 : 0;

    for (size_t i = 0; i < COUNT_OF(signals); i++) {
        if (word_is(place->at + prefix, length - prefix, signals[i].name)) {
            *number = signals[i].number;
            place->at += length;
            return 0;
        }
    }
    return place_fail(place, place->at, EINVAL,
                      "unknown signal: USR1, USR2, TERM, INT, HUP, QUIT, ALRM, CONT, STOP, TSTP, "
                      "URG, WINCH, KILL");
}

static int action_take_signal(struct place *place, struct threshold *threshold)
{
    if (action_parse_signal(place, &threshold->signal)) {
        return -1;
    }
    if (*place->at != '@') {
        return 0;
    }
    place->at++;
    if (!word_is(place->at, place_word_length(place, ","), "step")) {
        return place_fail(place, place->at, EINVAL, "only @step can follow a signal");
    }
    threshold->whole_step = true;
    place->at += strlen("step");
    return 0;
}

/* The rest of the text, without the blanks around it. */
static int action_take_command(struct place *place, struct threshold *threshold)
{
    size_t length;

    place_skip_blanks(place);
    length = strlen(place->at);
    while (length > 0 && strchr(" \t", place->at[length - 1])) {
        length--;
    }
    if (length == 0) {
        return place_fail(place, place->at, EINVAL, "a command is missing after exec=");
    }
    if (length >= sizeof threshold->command) {
        return place_fail(place, place->at, ENAMETOOLONG,
                          "the command is too long: at most %zu bytes",
                          sizeof threshold->command - 1);
    }
    memcpy(threshold->command, place->at, length);
    threshold->command[length] = '\0';
    place->at += strlen(place->at);
    return 0;
}

static const struct action_word {
    const char *word;
    enum threshold_action action;
    int (*take)(struct place *place, struct threshold *threshold); /* NULL: nothing follows */
} words[] = {{"log", THRESHOLD_LOG, NULL},
             {"stamp", THRESHOLD_STAMP, NULL},
             {"term", THRESHOLD_TERM, NULL},
             {"signal=", THRESHOLD_SIGNAL, action_take_signal},
             {"exec=", THRESHOLD_EXEC, action_take_command}};

/* @return NULL: no such action. */
static const struct action_word *action_find(const struct place *place)
{
    size_t length = place_word_length(place, ",=");

    length += place->at[length] == '=';
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (word_is(place->at, length, words[i].word)) {
            return &words[i];
        }
    }
    return NULL;
}

static int action_parse_one(struct place *place, struct threshold *threshold)
{
    const char *begin = place->at;
    const struct action_word *found = action_find(place);

    if (!found) {
        return place_fail(place, place->at, EINVAL,
                          "unknown action: log, stamp, signal=NAME[@step], term, exec=COMMAND");
    }
    if (threshold->actions & found->action) {
        return place_fail(place, begin, EINVAL, "this action is there already");
    }
    threshold->actions |= found->action;
    place->at += strlen(found->word);
    if (found->take && found->take(place, threshold)) {
        return -1;
    }
    if ((threshold->actions & THRESHOLD_TERM) && (threshold->actions & THRESHOLD_SIGNAL) &&
        (threshold->signal == SIGTERM || threshold->signal == SIGKILL)) {
        return place_fail(place, begin, EINVAL, "term sends SIGTERM and SIGKILL itself");
    }
    return 0;
}

int action_parse(struct place *place, struct threshold *threshold)
{
    for (;;) {
        place_skip_blanks(place);
        if (action_parse_one(place, threshold)) {
            return -1;
        }
        place_skip_blanks(place);
        if (*place->at == '\0') {
            return 0;
        }
        if (*place->at != ',') {
            return place_fail(place, place->at, EINVAL, "',' or the end is expected here");
        }
        place->at++;
    }
}

void action_text(const struct threshold *threshold, char *text, size_t size)
{
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; i < COUNT_OF(words) && length < size; i++) {
        bool has_signal = words[i].action == THRESHOLD_SIGNAL;
        int shown = (int)strcspn(words[i].word, "=") + has_signal;

        if (threshold->actions & words[i].action) {
            length += (size_t)snprintf(text + length, size - length, "%s%.*s%s%s",
                                       length ? ", " : "", shown, words[i].word,
                                       has_signal ? action_signal_name(threshold->signal) : "",
                                       has_signal && threshold->whole_step ? "@step" : "");
        }
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "choice.h"

#include "channel/deadline.h"
#include "unit/temporary.h"

static char sampler[80];

/* Let apapi-sampler be a script. */
static void install(const char *script)
{
    FILE *file;

    unlink(sampler);
    file = fopen(sampler, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", script);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(sampler, 0755), 0);
}

static struct apapi_error err;

static int check(const char *components)
{
    const struct spank_apapi_question question = {base, {"--check", components}, false};
    char answer[sizeof err.text];

    return spank_apapi_check(&question, answer, sizeof answer, &err);
}

TEST(it_agrees)
{
    install("[ \"$1\" = --check ] && [ \"$2\" = a:b ] && [ $# = 2 ] && echo fine");
    assert_int_equal(check("a:b"), 0);
    assert_int_equal(check("a:c"), -1);
}

/* Its own word is that there is no such component; anything else is a failure of its. */
TEST(it_refuses_or_fails)
{
    static const struct {
        const char *script;
        bool refuses;
        const char *said;
    } cases[] = {
        {"echo \"no component '$2'\"; echo more; echo error >&2; exit 2", true, "no component 'x'"},
        {"exit 3", false, "status 3"},
        {"kill -SEGV $$", false, "signal 11"},
        {"chmod 644 $0; exit 4", false, "status 4"},
        {NULL, false, "Permission denied"},
        {NULL, false, "No such file"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (cases[i].script) {
            install(cases[i].script);
        }
        assert_int_equal(check("x"), -1);
        assert_int_equal(errno == ENOENT, cases[i].refuses);
        assert_contains(err.text, cases[i].said);
        if (!cases[i].script) {
            unlink(sampler);
        }
    }
}

TEST(it_talks_too_much)
{
    install("i=0; while [ $i -lt 3000 ]; do printf 'words without an end '; i=$((i + 1)); done\n"
            "exit 1");
    assert_fails(ENOENT, check("x"));
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

static void assert_takes_two_seconds(void)
{
    uint64_t began_ns = deadline_now(), took_ns;

    assert_int_equal(check("x"), -1);
    took_ns = deadline_now() - began_ns;
    assert_int_equal(errno, ETIMEDOUT);
    assert_true(took_ns >= 2000 * DEADLINE_MS);
    assert_true(took_ns < 600000 * DEADLINE_MS); /* the program itself takes an hour */
}

TEST(it_hangs)
{
    install("exec sleep 3600");
    assert_takes_two_seconds();
    /* also without its output */
    install("exec >/dev/null; exec sleep 3600");
    assert_takes_two_seconds();
}

TEST(the_whole_answer_and_the_rules_of_the_environment)
{
    const struct spank_apapi_question question = {base, {"--pack"}, true};
    char answer[64];

    setenv("APAPI_VERBOSE", "1", 1);
    setenv("APAPI_OTHER", "1", 1);
    install("env | grep ^APAPI_; echo $#; exit 1");
    assert_fails(ENOENT, spank_apapi_check(&question, answer, sizeof answer, &err));
    assert_string_equal(answer, "APAPI_VERBOSE=1\n1\n");
    assert_int_equal(check("x"), -1);
    assert_string_equal(err.text, "2"); /* no other question sees the user's settings */
}

static void make_folder(void)
{
    make_base();
    snprintf(sampler, sizeof sampler, "%s/apapi-sampler", base);
}

ALL_TESTS_IN(make_folder, remove_base)

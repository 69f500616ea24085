/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi-sampler is started for a step, a node, a command of a threshold, or a question. */
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "channel/channel.h"
#include "sampler/beside.h"
#include "sampler/process.h"
#include "sampler/questions.h"
#include "sampler/sampler.h"

static bool has_channel(void)
{
    struct stat channel;

    return fstat(APAPI_CHANNEL_FD, &channel) == 0 && S_ISSOCK(channel.st_mode);
}

int main(int argc, char **argv)
{
    if (beside_is_asked(argc, argv)) {
        return beside_run(argv);
    }
    process_restrict();
    if (argc == 1 && has_channel()) {
        unsetenv("LANG"); /* which the plugin has set: that of who reads the table is not known */
        return sampler_run();
    }
    process_settle(false);
    return node_mode_is_asked(argc, argv) ? node_mode_run(argv) : questions_answer(argc, argv);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_QUESTIONS_H
#define SAMPLER_QUESTIONS_H

/**
 * Answer what srun and slurmd ask apapi-sampler on its command line, on standard output.
 * @return its exit status; -1: that is no question.
 */
int questions_answer(int argc, char **argv);

#endif

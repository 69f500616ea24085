/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_QUESTIONS_H
#define SAMPLER_QUESTIONS_H

/**
 * Answer questions of srun and slurmd, which are asked on the command line, on standard output.
 * @return the exit status; 2, and the usage on standard error, if there is none
 */
int questions_answer(int argc, char **argv);

#endif

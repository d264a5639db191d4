#include <inttypes.h>
#include <stdio.h>

#include "slurm/system.h"

void pleat_slurm_step(const struct pleat_adapter_step *step, struct pleat_adapter_words *words,
                      struct pleat_adapter_words *variables)
{
    static const char *const fixed[] = {"srun",
                                        "--overlap",
                                        "--nodes=1",
                                        "--ntasks=1",
                                        "--mem=0",
                                        "--mpi=none",
                                        "--output=none",
                                        "--error=none",
                                        "--chdir=/",
                                        "--quit-on-interrupt",
                                        "--cpu-bind=none",
                                        "--export=ALL",
                                        "--kill-on-bad-exit=0"};
    char number[16];
    (void)variables;
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        pleat_adapter_word(words, fixed[i]);
    pleat_adapter_word(words, step->reads ? "--input=all" : "--input=none");
    snprintf(number, sizeof(number), "%" PRIu32, step->job);
    pleat_adapter_option(words, "--jobid=", number);
    pleat_adapter_option(words, "--nodelist=", step->node);
    pleat_adapter_word(words, "--");
}

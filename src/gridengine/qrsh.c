#include <inttypes.h>
#include <stdio.h>

#include "gridengine/system.h"

/* qrsh -inherit starts a program in a job that is there, whose number it finds among its variables.
 * With -noshell the words get there as they are; without it a shell would read them. */
void pleat_gridengine_step(const struct pleat_adapter_step *step, struct pleat_adapter_words *words,
                           struct pleat_adapter_words *variables)
{
    char number[16];
    pleat_adapter_word(words, "qrsh");
    pleat_adapter_word(words, "-inherit");
    pleat_adapter_word(words, "-noshell");
    if (!step->reads)
        pleat_adapter_word(words, "-nostdin");
    pleat_adapter_word(words, step->node);
    snprintf(number, sizeof(number), "%" PRIu32, step->job);
    pleat_adapter_option(variables, "JOB_ID=", number);
    pleat_adapter_word(variables, "SGE_TASK_ID=undefined"); /* it is no array of jobs */
}

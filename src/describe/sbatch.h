/* sbatch.h - what the lines #SBATCH at the head of a batch script mean to Pleat.
 *
 * The lines are read as Slurm's sbatch reads them, up to the first line that is neither blank nor a
 * comment. Options with an equivalent become options of `pleat submit`. Options without one are
 * listed, and ignored. Pure: text in, words out. docs/user-guide.md has the table.
 */
#ifndef PLEAT_DESCRIBE_SBATCH_H
#define PLEAT_DESCRIBE_SBATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"
#include "describe/batch.h"

struct pleat_sbatch {
    int first;                      /* the first line #SBATCH, from 1; 0: there is none */
    struct pleat_batch_words words; /* options of submit, with the lines they come from */
    struct pleat_string left; /* names of options without an equivalent, with ", " between them */
};

/* sized: the script says in another way how many processors it wants, which has precedence. Finish
 * *sbatch after success. Errors begin with "NAME:LINE: ": PLEAT_E_INVALID (an option without its
 * value, a malformed number or time, a quote that is not closed), PLEAT_E_NOMEM. After an error
 * *sbatch is empty. */
int pleat_sbatch_read(const char *name, const char *text, size_t size, bool sized,
                      struct pleat_sbatch *sbatch, struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_sbatch_finish(struct pleat_sbatch *sbatch);

#endif

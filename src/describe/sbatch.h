/* sbatch.h - what the lines #SBATCH at the head of a batch script mean here.
 *
 * They are read as Slurm's sbatch reads them: up to the first line that is neither blank nor a
 * comment. What has an equivalent becomes options of `pleat submit`; what has none is named, and
 * does nothing. Pure: text in, words out. docs/user-guide.md has the table. */
#ifndef PLEAT_DESCRIBE_SBATCH_H
#define PLEAT_DESCRIBE_SBATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"
#include "describe/batch.h"

struct pleat_sbatch {
    int first;                      /* the first such line, from 1; 0: there is none */
    struct pleat_batch_words words; /* options of submit, with the lines that they come from */
    struct pleat_string left;       /* names of what has no equivalent, with ", " between */
};

/* sized: the script says otherwise how many processors it wants, which wins. Finish *sbatch after
 * success. Errors begin with "NAME:LINE: ": PLEAT_E_INVALID (an option without its value, a number
 * or a time that is none, a quote that is not closed), PLEAT_E_NOMEM; on failure *sbatch is empty.
 */
int pleat_sbatch_read(const char *name, const char *text, size_t size, bool sized,
                      struct pleat_sbatch *sbatch, struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_sbatch_finish(struct pleat_sbatch *sbatch);

#endif

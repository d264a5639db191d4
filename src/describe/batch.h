/* batch.h - the options in a batch script: lines that begin with #PLEAT, at its head.
 *
 * They are read up to the first line that is neither blank nor a comment, as sbatch and qsub do.
 * "#PLEAT" stands at the very beginning of a line and is followed by white space, or nothing; a
 * line has any number of options, taken apart as a shell does (words.h). Pure: text in, words out.
 */
#ifndef PLEAT_DESCRIBE_BATCH_H
#define PLEAT_DESCRIBE_BATCH_H

#include <stddef.h>

#include "base/array.h"

#define PLEAT_BATCH_WORDS_MAX 4096

struct pleat_batch_word {
    int line;   /* from 1 */
    char *text; /* owned */
};
PLEAT_ARRAY(pleat_batch_words, struct pleat_batch_word);

struct pleat_batch {
    struct pleat_batch_words words; /* in order; those of a line stand together */
    int directives;                 /* lines that begin with #PLEAT at the head, also empty ones */
    int late; /* the first such line below the head, which is not read; 0: none */
};

/* Takes `size` bytes of text, any bytes. Finish *batch after success. Errors begin with
 * "NAME:LINE: ": PLEAT_E_INVALID (a quote is not closed, a NUL byte), PLEAT_E_TOOBIG,
 * PLEAT_E_NOMEM; on failure *batch is empty. */
int pleat_batch_read(const char *name, const char *text, size_t size, struct pleat_batch *batch,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_batch_finish(struct pleat_batch *batch);

#endif

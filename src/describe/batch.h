/* batch.h - the options in a batch script: lines at its head that begin with #PLEAT.
 *
 * The head ends before the first line that is neither blank nor a comment, as for sbatch and qsub.
 * "#PLEAT" must be at the very beginning of a line, and be followed by white space or nothing. A
 * line may have any number of options, which are split as a shell does (words.h). Pure: text in,
 * words out.
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
    struct pleat_batch_words words; /* in order; the words of a line stand together */
    int directives; /* lines at the head that begin with #PLEAT, also without options */
    int late;       /* the first such line below the head, which is ignored; 0: none */
};

/* Reads `size` bytes of text, which may be any bytes. Finish *batch after success. Errors begin
 * with "NAME:LINE: ": PLEAT_E_INVALID (a quote is not closed, a NUL byte), PLEAT_E_TOOBIG,
 * PLEAT_E_NOMEM. After an error *batch is empty. */
int pleat_batch_read(const char *name, const char *text, size_t size, struct pleat_batch *batch,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_batch_finish(struct pleat_batch *batch);

#endif

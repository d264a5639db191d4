/* words.h - splits a line of text as a shell does. */
#ifndef PLEAT_DESCRIBE_WORDS_H
#define PLEAT_DESCRIBE_WORDS_H

#include <stdbool.h>

#include "base/error.h"

/* Splits a line as a shell does: '...', "...", \x, # at the start of a word. The words are added to
 * *words, their number to *count; the caller owns all of them. PLEAT_E_INVALID: a quote is not
 * closed. */
int pleat_words_split(const char *line, char ***words, int *count,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

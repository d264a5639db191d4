/* word_list.h - options that take a list of known words ("state,resize") and select by them. */
#ifndef PLEAT_CLI_COMMON_WORD_LIST_H
#define PLEAT_CLI_COMMON_WORD_LIST_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

/* Adds the words of a list such as "state,resize" to *chosen, which is made where it is NULL.
 * `known` ends with NULL; `what` names the option. PLEAT_E_INVALID: a word is not known, and *err
 * lists those that are. The words in front of it have been added. */
int pleat_parse_words(const char *what, const char *text, const char *const *known, json_t **chosen,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* Whether the object's member is one of the chosen words. chosen NULL: always. */
bool pleat_word_is_chosen(const json_t *chosen, const json_t *object, const char *member);

#endif

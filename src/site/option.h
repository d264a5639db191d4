/* option.h - the options in pleat.conf that only sites of one kind have: a table in the kind's
 * file. The reader of the file knows no kind.
 */
#ifndef PLEAT_SITE_OPTION_H
#define PLEAT_SITE_OPTION_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct pleat_site_ops;

enum pleat_option_type {
    PLEAT_OPTION_NUMBER,  /* int64_t: a whole number */
    PLEAT_OPTION_SECONDS, /* int64_t: microseconds; seconds in the file, with a fraction or none */
    PLEAT_OPTION_CHOICE,  /* int: the index of the word in `choices`, from 0 on */
    PLEAT_OPTION_TEXT     /* char *, freed with the options; never NULL */
};

/* A row. A table of them ends with a row without a name. */
struct pleat_site_option {
    const char *name;
    enum pleat_option_type type;
    size_t offset;       /* offset of the value in the struct of the kind's options */
    const char *usual;   /* the default, as it would be written */
    int64_t low, high;   /* of NUMBER; of SECONDS, in seconds */
    const char *choices; /* of CHOICE: words with blanks between them */
    /* of TEXT: PLEAT_E_INVALID says what it must be; NULL: any text without control characters */
    int (*check)(const char *text, struct pleat_error *err);
    const char *help; /* what the option is, as part of a sentence */
};

/* The row of an option; NULL: sites of the kind have no such option. */
const struct pleat_site_option *pleat_site_option_find(const struct pleat_site_ops *kind,
                                                       const char *name);
/* PLEAT_E_INVALID: err says what the value must be. */
int pleat_site_option_check(const struct pleat_site_option *option, const char *text,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* The options of a kind, all of them as usual; NULL if it has none. PLEAT_E_NOMEM. To be released
 * with pleat_site_own_free. */
int pleat_site_own_make(const struct pleat_site_ops *kind, void **own) PLEAT_MUST_CHECK;
/* Sets an option. PLEAT_E_INVALID, PLEAT_E_NOMEM. */
int pleat_site_own_set(void *own, const struct pleat_site_option *option, const char *text,
                       struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_site_own_free(const struct pleat_site_ops *kind, void *own);

#endif

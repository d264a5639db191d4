/* indexes.h - the tasks of an array of jobs, as users write them: "0-9:2,15%4". */
#ifndef PLEAT_MODEL_INDEXES_H
#define PLEAT_MODEL_INDEXES_H

#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

PLEAT_ARRAY(pleat_index_list, int32_t);

enum { PLEAT_TASKS_MAX = 5000, PLEAT_INDEX_MAX = 1000000 };

/* Indexes in increasing order, each once, appended to *list (finish it in any case). *limit: how
 * many may run at one time, 0: all. PLEAT_E_INVALID; PLEAT_E_TOOBIG; PLEAT_E_NOMEM. */
int pleat_indexes_parse(const char *text, struct pleat_index_list *list, int32_t *limit,
                        struct pleat_error *err) PLEAT_MUST_CHECK;

/* What a task needs to know of the list, for which the list need not be made. */
struct pleat_indexes {
    int32_t count, least, most;
    int32_t step;  /* from the first to the second; 1: there is no second */
    int32_t limit; /* as above */
    int32_t place; /* of the index that is asked for; -1: it is not there */
};

/* PLEAT_E_INVALID; PLEAT_E_TOOBIG. */
int pleat_indexes_describe(const char *text, int32_t index, struct pleat_indexes *indexes,
                           struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

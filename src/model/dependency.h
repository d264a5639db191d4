/* dependency.h - which other jobs a job waits for, as its user writes it. */
#ifndef PLEAT_MODEL_DEPENDENCY_H
#define PLEAT_MODEL_DEPENDENCY_H

#include <stdbool.h>

#include "base/array.h"
#include "model/event.h"

struct pleat_need {
    int64_t job;   /* 0: all older jobs of the same name */
    int32_t index; /* of a task, where the job is an array; -1: the job, all tasks of an array */
    enum pleat_condition condition;
};

PLEAT_ARRAY(pleat_need_list, struct pleat_need);

enum { PLEAT_NEEDS_MAX = 5000 }; /* of one job, as written */

/* "afterok:3:4,afterany:5,singleton": all of them; with '?' in the place of ',': one is enough. A
 * job may be a task, or some, of an array: "afterok:12_3:12_[4,6-8]", a need for each of them.
 * The needs are appended to *needs, which has to be finished in any case. PLEAT_E_INVALID;
 * PLEAT_E_TOOBIG; PLEAT_E_NOMEM. */
int pleat_needs_parse(const char *text, struct pleat_need_list *needs, bool *any,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* "afterany", "afterok", ...; "?" for a number that is no condition. */
const char *pleat_condition_name(enum pleat_condition condition);

#endif

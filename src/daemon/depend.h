/* depend.h - which other jobs a job waits for, as its spec says */
#ifndef PLEAT_DAEMON_DEPEND_H
#define PLEAT_DAEMON_DEPEND_H

#include <jansson.h>

#include "base/array.h"
#include "model/submission.h"

PLEAT_ARRAY(pleat_submission_needs, struct pleat_submission_need);

struct daemon;
struct pleat_component;
struct pleat_spec;

/* Before a job is submitted. PLEAT_E_NOTFOUND: it is to wait for a job that does not exist;
 * PLEAT_E_STATE: it would wait for ever. */
int needs_check(struct daemon *d, const struct pleat_spec *spec, struct pleat_error *err);
/* Adds to *needs the jobs that a submitted job still waits for. *any: one of them is enough; left
 * alone where the job waits for none. */
int needs_find(struct daemon *d, int64_t job, const struct pleat_spec *spec,
               struct pleat_submission_needs *needs, bool *any, struct pleat_error *err);
json_t *needs_to_json(struct daemon *d, const struct pleat_component *c);
/* What holds a waiting job: an array of "user", "jobs", "array". holds_text: the same as a sentence
 * for people; only for a job that something holds. */
json_t *holds_to_json(const struct pleat_component *c);
void holds_text(struct daemon *d, const struct pleat_component *c, char *text, size_t size);

#endif

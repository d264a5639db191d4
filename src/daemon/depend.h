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

/* Before it is submitted: PLEAT_E_NOTFOUND: there is no such job; PLEAT_E_STATE: it would wait for
 * ever. */
int needs_check(struct daemon *d, const struct pleat_spec *spec, struct pleat_error *err);
/* Of a job that was submitted: those that it still waits for, added to *needs; *any: one of them is
 * enough, left alone where it waits for none. */
int needs_find(struct daemon *d, int64_t job, const struct pleat_spec *spec,
               struct pleat_submission_needs *needs, bool *any, struct pleat_error *err);
json_t *needs_to_json(struct daemon *d, const struct pleat_component *c);
/* What holds it: "user", "jobs", "array"; and the same for people, of one that something holds. */
json_t *holds_to_json(const struct pleat_component *c);
void holds_text(struct daemon *d, const struct pleat_component *c, char *text, size_t size);

#endif

/* depend.h - which other jobs a job waits for, as its spec says */
#ifndef PLEAT_DAEMON_DEPEND_H
#define PLEAT_DAEMON_DEPEND_H

#include <jansson.h>

#include "model/event.h"

struct daemon;
struct pleat_component;
struct pleat_spec;

/* Before it is submitted: PLEAT_E_NOTFOUND: there is no such job; PLEAT_E_STATE: it would wait for
 * ever. */
int needs_check(struct daemon *d, const struct pleat_spec *spec, struct pleat_error *err);
/* After it was. */
int needs_set(struct daemon *d, const struct pleat_event *submit, const struct pleat_spec *spec,
              struct pleat_error *err);
json_t *needs_to_json(struct daemon *d, const struct pleat_component *c);
/* What holds it: "user", "jobs", "array"; and the same for people, of one that something holds. */
json_t *holds_to_json(const struct pleat_component *c);
void holds_text(struct daemon *d, const struct pleat_component *c, char *text, size_t size);

#endif

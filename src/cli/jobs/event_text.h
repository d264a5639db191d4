/* event_text.h - an event as a line for people. */
#ifndef PLEAT_CLI_JOBS_EVENT_TEXT_H
#define PLEAT_CLI_JOBS_EVENT_TEXT_H

#include <jansson.h>

#include "base/array.h"

/* The kinds of docs/protocol.md, in its order; NULL after the last. */
extern const char *const pleat_event_kinds[];
/* What a program asked for, and the answer: the member `asked` of a job, or such an event. */
void pleat_add_asked(const json_t *asked, struct pleat_string *out);

/* Appends what happened ("running -> done", "grow 2 -> 4: granted"), without time and job. */
void pleat_event_add_text(const json_t *event, struct pleat_string *out);

/* Appends how many ranks of the program say that it must not be resized now ("not_now"). */
void pleat_add_not_now(const json_t *object, struct pleat_string *out);

#endif

/* asked_text.h - what jobs' programs ask for, and the answers, in words */
#ifndef PLEAT_DAEMON_ASKED_TEXT_H
#define PLEAT_DAEMON_ASKED_TEXT_H

#include <jansson.h>

#include "model/effect.h"
#include "model/records.h"

struct daemon;

/* Why a program does not get all that it asked for; empty: it gets all. */
void asked_reason(const struct daemon *d, const struct pleat_component *component,
                  const struct pleat_ask *ask, char *text, size_t size);
/* The data of the note PLEAT_NOTE_ASKED. */
json_t *asked_data(const struct daemon *d, const struct pleat_effect *effect);
/* What the program of a component asked for last, for people; null: nothing. */
json_t *asked_to_json(const struct daemon *d, const struct pleat_component *component);

#endif

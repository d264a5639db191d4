/* notes.h - notes: effects and events in the words of people */
#ifndef PLEAT_DAEMON_NOTES_H
#define PLEAT_DAEMON_NOTES_H

#include <jansson.h>

#include "base/array.h"
#include "model/effect.h"
#include "model/event.h"

struct daemon;

/* A note that was made in a turn, kept until it is written and told. */
struct made_note {
    int64_t time_us;
    const char *kind; /* a literal, never freed */
    int64_t job;
    json_t *data; /* owned */
    int64_t seq;
};

PLEAT_ARRAY(made_notes, struct made_note);

/* {"text"} of a text that may not be UTF-8, as it is another program's, or was cut off: invalid
 * bytes are replaced. NULL: out of memory. */
json_t *note_text(const char *text);
/* Makes a note. data is stolen; where it is NULL, memory ran out: the note is lost, which is
 * logged. */
void note_make(struct daemon *d, int64_t time_us, const char *kind, int64_t job, json_t *data);
void note_effect(struct daemon *d, const struct pleat_effect *effect);
void note_event(struct daemon *d, const struct pleat_event *event);
/* A note as clients get it. NULL when out of memory. */
json_t *note_to_json(int64_t seq, int64_t time_us, const char *kind, int64_t job,
                     const json_t *data);

#endif

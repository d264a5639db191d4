/* specs.h - what users submitted: in the store, a few of them at hand */
#ifndef PLEAT_DAEMON_SPECS_H
#define PLEAT_DAEMON_SPECS_H

#include <jansson.h>

#include "base/array.h"
#include "wire/spec.h"

struct daemon;

/* One that is at hand. */
struct known_spec {
    int64_t job; /* 0: there is none in this slot */
    json_t *json;
    bool parsed; /* spec is there, too */
    bool whole;  /* with its environment */
    struct pleat_spec spec;
};

/* One of this turn. */
struct made_spec {
    int64_t job;
    char *text;
    char *environment; /* or NULL */
};

PLEAT_ARRAY(made_specs, struct made_spec);

/* A slot for each of as many jobs, by number: a bound on memory, and nothing to search. */
enum { SPECS_KNOWN = 256 };

struct specs {
    struct made_specs made; /* not written yet */
    struct known_spec known[SPECS_KNOWN];
};

/* Without the environment. Borrowed until the next call of these; NULL: it cannot be read. */
const json_t *spec_json(struct daemon *d, int64_t job, struct pleat_error *err);
/* The same, read; and its name. Never NULL: one that cannot be read is empty, and that is logged.
 */
const struct pleat_spec *job_spec(struct daemon *d, int64_t job);
const char *job_name(struct daemon *d, int64_t job);
/* All of it. Borrowed until the next call of these; NULL: it cannot be read. */
const struct pleat_spec *spec_of(struct daemon *d, int64_t job, struct pleat_error *err);
/* A new one, to be written with this turn; takes "env" out of it. */
int spec_made(struct daemon *d, int64_t job, json_t *json);
/* They are in the store, or the daemon ends. */
void specs_written(struct daemon *d);
void spec_forget(struct daemon *d, int64_t job);
void specs_finish(struct daemon *d);

#endif

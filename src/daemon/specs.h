/* specs.h - specs, which say what users submitted: all in the store, a few cached in memory */
#ifndef PLEAT_DAEMON_SPECS_H
#define PLEAT_DAEMON_SPECS_H

#include <jansson.h>

#include "base/array.h"
#include "wire/spec.h"

struct daemon;

/* An entry of the cache. */
struct known_spec {
    int64_t job; /* 0: the entry is empty */
    json_t *json;
    bool parsed; /* `spec` is valid */
    bool whole;  /* `spec` includes the environment */
    struct pleat_spec spec;
};

/* A spec that was submitted in this turn. */
struct made_spec {
    int64_t job;
    char *text;
    char *environment; /* NULL: none */
};

PLEAT_ARRAY(made_specs, struct made_spec);

/* Entries of the cache: job number n has entry n % SPECS_KNOWN. That bounds memory, and needs no
 * search. */
enum { SPECS_KNOWN = 256 };

struct specs {
    struct made_specs made; /* not written yet */
    struct known_spec known[SPECS_KNOWN];
};

/* A job's spec without its environment. Borrowed until the next call of a function of this header
 * that returns a spec or a name; NULL: it cannot be read. */
const json_t *spec_json(struct daemon *d, int64_t job, struct pleat_error *err);
/* The same, parsed; and its name. Borrowed likewise. Never NULL: a spec that cannot be read is
 * empty (logged). */
const struct pleat_spec *job_spec(struct daemon *d, int64_t job);
const char *job_name(struct daemon *d, int64_t job);
/* The parsed spec with its environment. Borrowed likewise; NULL: it cannot be read. */
const struct pleat_spec *spec_of(struct daemon *d, int64_t job, struct pleat_error *err);
/* Adds the spec of a new job, to be written with this turn. Takes the member "env" out of `json`,
 * which stays the caller's. */
int spec_made(struct daemon *d, int64_t job, json_t *json);
/* Drops the specs of this turn: they are in the store, or the daemon ends. */
void specs_written(struct daemon *d);
void spec_forget(struct daemon *d, int64_t job);
void specs_finish(struct daemon *d);

#endif

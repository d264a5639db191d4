/* check.h - what a check of `pleat doctor` gets, and how it tells what it saw.
 *
 * A check runs in a process of its own, which is ended at its limit with all that it started: so it
 * may block, crash, and forget to free. It changes nothing. The checks are rows of checks.def.
 */
#ifndef PLEAT_CLI_DOCTOR_CHECK_H
#define PLEAT_CLI_DOCTOR_CHECK_H

#include <jansson.h>

#include "base/array.h"
#include "base/paths.h"

enum doctor_state { DOCTOR_OK, DOCTOR_WARNING, DOCTOR_FAILED, DOCTOR_UNCHECKED };

struct doctor {
    struct pleat_paths paths;
    struct pleat_error paths_wrong; /* code 0: the paths are known */
    struct pleat_error start_wrong; /* why no pleatd could be started (--start); code 0: nothing */
    char scratch[64];               /* a directory for files, removed after each check */
    int report;                     /* where the check writes what it tells */
};

struct doctor_check {
    const char *name; /* stable: in --json, and an argument of the command */
    const char *what; /* what is looked at, for --help */
    const char *hung; /* what to do if it does not end */
    void (*look)(struct doctor *doctor);
};

#define CHECK(name, function, what, hung) void function(struct doctor *doctor);
#include "cli/doctor/checks.def"
#undef CHECK

/* "ok", "warning", "failed", "not checked" */
const char *doctor_state_name(enum doctor_state state);
/* Tells one result: a sentence about what was seen. subject: which of several things of the check;
 * NULL: there is only one. advice: what to do; NULL: nothing. */
void doctor_tell(struct doctor *doctor, enum doctor_state state, const char *subject,
                 const char *advice, const char *fmt, ...) PLEAT_PRINTF(5, 6);

/* Runs a program with its standard input empty; what it prints and complains of is appended to
 * *output, up to 64 kB. env NULL: as this process's. Returns its exit status, 128 + its signal, or
 * 127: it cannot be executed. */
int doctor_execute(char *const argv[], char *const env[], struct pleat_string *output);
/* The first line of a text that says something, in a static buffer. */
const char *doctor_first_line(const struct pleat_string *text);
/* Asks the pleatd that runs, and starts none. PLEAT_E_NOTFOUND: none runs. */
int doctor_ask(struct doctor *doctor, const char *method, json_t **answer, struct pleat_error *err);
/* What `pleat-agent --check` sees on this machine; NULL: it could not be asked, which was
 * reported. */
json_t *doctor_look_by_agent(struct doctor *doctor);

#endif

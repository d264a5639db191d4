/* told.h - what the agent tells a process: one JSON object per line (docs/protocol.md). Everything
 * is checked here. */
#ifndef PLEAT_PROCESS_TOLD_H
#define PLEAT_PROCESS_TOLD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* A line can have so many bytes: a welcome lists all processes of the run. */
#define PLEAT_TOLD_LINE ((size_t)4 << 20)
#define PLEAT_TOLD_ADDRESS 255 /* bytes of an address */

enum pleat_told_what {
    PLEAT_TOLD_OTHER, /* of a later version: ignored */
    PLEAT_TOLD_WELCOME,
    PLEAT_TOLD_GO,
    PLEAT_TOLD_ADDED,
    PLEAT_TOLD_REFUSED,
    PLEAT_TOLD_DONE,
    PLEAT_TOLD_PROCESS,
    PLEAT_TOLD_LEAVE
};

/* What is said of a process. Texts are borrowed from the line that was read. */
struct pleat_told_process {
    int32_t process;
    int32_t parent;       /* -1: none, or not said */
    int state;            /* enum pleat_process_state; 0: prepared, nothing to others */
    const char *address;  /* NULL: not said */
    const json_t *groups; /* an array of names; NULL: not said */
    int reason;           /* enum pleat_process_reason */
    int code;             /* -1: none */
    int signal;           /* 0: none */
};

struct pleat_told_line {
    enum pleat_told_what what;
    int64_t number;                  /* of added, refused, done: of which request */
    int32_t process;                 /* of welcome, added */
    int32_t parent;                  /* of welcome, go; -1: none */
    int32_t maximum;                 /* of welcome; 0: not said */
    bool ready;                      /* of added */
    bool prepared;                   /* of welcome: wait for go */
    const char *text;                /* of refused */
    struct pleat_told_process about; /* of process */
    const json_t *processes;         /* of welcome; NULL: none */
    json_t *line;
};

/* Reads a line. Release it with pleat_told_finish, if it could be read. PLEAT_E_PROTOCOL: it is not
 * what an agent says; the text says what is wrong. */
int pleat_told_read(const char *line, size_t length, struct pleat_told_line *told,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
/* The process at a place in a welcome's list. False: there are no more. */
bool pleat_told_at(const struct pleat_told_line *told, size_t place,
                   struct pleat_told_process *about);
void pleat_told_finish(struct pleat_told_line *told);

#endif

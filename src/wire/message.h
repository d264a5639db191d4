/* message.h - Pleat's protocol: one JSON object per line.
 *
 *   request       {"id":7,"method":"submit","params":{...}}
 *   result        {"id":7,"result":{...}}
 *   error         {"id":7,"error":{"code":-4,"name":"not found","text":"no job 17"}}
 *   notification  {"method":"exited","params":{...}}
 *
 * Both sides send a hello notification first: {"method":"hello","params":{"protocol":1,
 * "version":"0.1.0","role":"client|daemon|agent", ...}}. Unknown members are ignored. A line has at
 * most PLEAT_WIRE_LINE_MAX bytes, its newline included. A message with an integer member "bytes": N
 * (N <= PLEAT_WIRE_BYTES_MAX) is followed by exactly N raw bytes, its attachment. Ids of requests
 * are from 1 to 2^63 - 1. An error with id 0 is about the connection itself, and its sender closes
 * after it. JSON is strict: UTF-8, no duplicate members, no NUL in strings, at most 2048 levels
 * deep. docs/protocol.md has the methods.
 */
#ifndef PLEAT_WIRE_MESSAGE_H
#define PLEAT_WIRE_MESSAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

#define PLEAT_WIRE_PROTOCOL 1
/* A feature that an agent may have: runs whose processes have several processors each. */
#define PLEAT_FEATURE_TASKS "cpus_per_task"
/* The same: runs on a terminal. */
#define PLEAT_FEATURE_TERMINAL "terminal"
/* The same: the agent makes terminals for runs whose user is on another host. */
#define PLEAT_FEATURE_WINDOW "window"
#define PLEAT_FEATURE_CHECKPOINTS "checkpoints"
/* The same: parts of runs that another node's agent leads, and runs that have such parts. */
#define PLEAT_FEATURE_PARTS "parts"
/* The same: parts of malleable runs, which have mailboxes of their own. */
#define PLEAT_FEATURE_PLACES "places"
/* The same: the output of a run is numbered, kept until it was heard, and told again. */
#define PLEAT_FEATURE_STREAMS "streams"
/* The same: runs over several nodes have warm relaunches, and parts that wait. */
#define PLEAT_FEATURE_WAITS "waits"
/* The same: parts of a run on one node beside one another, each under a number of its own. */
#define PLEAT_FEATURE_BESIDE "beside"
/* The same: the agent that leads a run can hand it over to that of another node. */
#define PLEAT_FEATURE_MOVES "moves"
/* The same: folded runs may be told CPUs that another agent of their host was given. */
#define PLEAT_FEATURE_GUESTS "guests"
/* The same: runs whose processes ask for more processes. */
#define PLEAT_FEATURE_PROCESSES "processes"
/* The same: these may be on other nodes than that from which the run is led. */
#define PLEAT_FEATURE_ROAMS "roams"
/* The same: it says which architecture its host has, and is told those of others. */
#define PLEAT_FEATURE_ARCHITECTURES "architectures"
/* The same: processes of a run that asks for more may be at other sites than the run. */
#define PLEAT_FEATURE_SITES "sites"
/* The same: one of these is told to leave before its site takes its processor back. */
#define PLEAT_FEATURE_LEAVE "leave"
/* In the directory of state: the port at which agents call over TCP. */
#define PLEAT_AGENT_PORT "agents.port"
#define PLEAT_WIRE_LINE_MAX 1048576  /* 1 MiB */
#define PLEAT_WIRE_BYTES_MAX 4194304 /* 4 MiB */

enum pleat_message_kind { PLEAT_REQUEST, PLEAT_RESULT, PLEAT_FAILURE, PLEAT_NOTIFICATION };

/* A message taken apart. All pointers are borrowed: from `json`, which the message owns, or
 * (`bytes`) from the reader's buffer, where they are valid until the next call on the reader. */
struct pleat_message {
    enum pleat_message_kind kind;
    int64_t id;               /* request, result, failure; 0: a failure of the connection */
    const char *method;       /* request, notification */
    const json_t *params;     /* request, notification: an object; NULL: absent */
    const json_t *result;     /* result; never NULL, usually an object */
    struct pleat_error error; /* failure */
    const char *bytes;        /* NULL without attachment */
    size_t bytes_count;
    json_t *json;
};

void pleat_message_finish(struct pleat_message *message);

/* ---- reading: feed the bytes that arrive, take out messages ---- */

struct pleat_reader; /* one for each connection; holds one line and one attachment at most */

int pleat_reader_create(struct pleat_reader **reader) PLEAT_MUST_CHECK;
void pleat_reader_destroy(struct pleat_reader *reader);
/* From now on lines are those of an application's processes (docs/protocol.md, "Processes of
 * evolving runs"): JSON objects whose member "do" is the method and which are their own params, of
 * at most `most` bytes each. */
void pleat_reader_lines(struct pleat_reader *reader, size_t most);
/* Copies `count` bytes in. PLEAT_E_TOOBIG: a line exceeds its limit, or messages were not taken out
 * between feeds (the reader holds at most one line, one attachment and one feed). PLEAT_E_NOMEM.
 * After a failure every later call fails, too, and the connection must be closed. */
int pleat_reader_feed(struct pleat_reader *reader, const char *bytes, size_t count,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* To be called after each feed until it returns 0. 1: *message is filled; release it with
 * pleat_message_finish. 0: no message is complete; *message is empty. PLEAT_E_PROTOCOL: not a
 * message; PLEAT_E_TOOBIG: a line or an attachment exceeds its limit. After a failure every later
 * call fails, too, and the connection must be closed. */
int pleat_reader_next(struct pleat_reader *reader, struct pleat_message *message,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

/* Bytes fed that were not yet taken out as part of a message. Above 0 at the end of a stream: it
 * ended in the middle of a message. */
size_t pleat_reader_pending(const struct pleat_reader *reader);

/* ---- writing: each function appends one whole line (and attachment) to *out ---- `params` and
 * `result` are stolen (as by json_object_set_new), also on failure; NULL means {}. So check what
 * json_pack returned: it is NULL for a string that is not UTF-8; for such strings there is
 * pleat_json_text. Failures leave *out as it was: PLEAT_E_INVALID (params is not an object, an id
 * or code is out of range), PLEAT_E_TOOBIG (the reader would refuse the line or the attachment),
 * PLEAT_E_NOMEM. */
int pleat_write_request(struct pleat_string *out, int64_t id, const char *method,
                        json_t *params) PLEAT_MUST_CHECK;
int pleat_write_notification(struct pleat_string *out, const char *method,
                             json_t *params) PLEAT_MUST_CHECK;
/* The same with an attachment. `bytes` is borrowed; NULL: none. */
int pleat_write_request_bytes(struct pleat_string *out, int64_t id, const char *method,
                              json_t *params, const char *bytes, size_t count) PLEAT_MUST_CHECK;
int pleat_write_notification_bytes(struct pleat_string *out, const char *method, json_t *params,
                                   const char *bytes, size_t count) PLEAT_MUST_CHECK;
int pleat_write_result(struct pleat_string *out, int64_t id, json_t *result) PLEAT_MUST_CHECK;
int pleat_write_result_bytes(struct pleat_string *out, int64_t id, json_t *result,
                             const char *bytes, size_t count) PLEAT_MUST_CHECK;
int pleat_write_failure(struct pleat_string *out, int64_t id,
                        const struct pleat_error *error) PLEAT_MUST_CHECK;
/* A JSON string of any text, such as a path or a message of the system. Bytes that are not UTF-8
 * become '?'. NULL: out of memory. */
json_t *pleat_json_text(const char *text);
/* extra (stolen, may be NULL): further members of the hello's params. */
int pleat_write_hello(struct pleat_string *out, const char *role, json_t *extra) PLEAT_MUST_CHECK;
/* Checks a hello. PLEAT_E_PROTOCOL: it is none, or has another protocol's number. *role is borrowed
 * from the message. */
int pleat_read_hello(const struct pleat_message *message, const char **role,
                     struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- reading members, with errors that name the member ---- If a member is absent and not
 * `required`, *value stays as it was and 0 is returned. PLEAT_E_INVALID: it has the wrong type or
 * is out of range. `object` may be NULL (as absent params are): it has no members then. Strings are
 * borrowed. */
int pleat_get_string(const json_t *object, const char *name, bool required, const char **value,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_get_int(const json_t *object, const char *name, bool required, int64_t low, int64_t high,
                  int64_t *value, struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_get_bool(const json_t *object, const char *name, bool required, bool *value,
                   struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_get_real(const json_t *object, const char *name, bool required, double *value,
                   struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

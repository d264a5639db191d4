/* lines.h - messages (wire/message.h) on standard input and output. */
#ifndef PLEAT_ADAPTER_LINES_H
#define PLEAT_ADAPTER_LINES_H

#include <uv.h>

#include "wire/message.h"

/* With more bytes than this waiting, the program that started this one counts as not reading any
 * more. */
#define PLEAT_ADAPTER_UNREAD_MAX 67108864

struct pleat_adapter_lines {
    uv_pipe_t in, out;
    uv_signal_t told;    /* SIGTERM */
    const char *program; /* for what it says on standard error */
    struct pleat_reader *reader;
    void (*message)(void *arg, const struct pleat_message *message);
    void *arg;
    char buffer[65536];
};

/* Opens both, which must be pipes or sockets, and calls message(arg, ...) for each message that
 * comes. The process ends (exit) when its input does or SIGTERM comes (0), and when that is no
 * protocol or nobody reads (1). */
int pleat_adapter_lines_open(struct pleat_adapter_lines *lines, uv_loop_t *loop,
                             struct pleat_error *err) PLEAT_MUST_CHECK;
/* end() is called before the process ends in one of these ways. */
void pleat_adapter_at_end(void (*end)(void));
/* Each writes one line; `result` and `params` are stolen. */
void pleat_adapter_answer(struct pleat_adapter_lines *lines, int64_t id, json_t *result);
void pleat_adapter_refuse(struct pleat_adapter_lines *lines, int64_t id,
                          const struct pleat_error *error);
void pleat_adapter_notify(struct pleat_adapter_lines *lines, const char *method, json_t *params);
void pleat_adapter_greet(struct pleat_adapter_lines *lines, const char *role, json_t *extra);
/* Says why it ends, and ends. */
_Noreturn void pleat_adapter_give_up(struct pleat_adapter_lines *lines,
                                     const struct pleat_error *error);

#endif

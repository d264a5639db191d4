/* lines.h - messages (wire/message.h) on standard input and output. */
#ifndef PLEAT_SLURM_LINES_H
#define PLEAT_SLURM_LINES_H

#include <uv.h>

#include "wire/message.h"

/* More than this is waiting to be read by whoever started us: it does not read any more. */
#define PLEAT_SLURM_UNREAD_MAX 67108864

struct pleat_slurm_lines {
    uv_pipe_t in, out;
    struct pleat_reader *reader;
    void (*message)(void *arg, const struct pleat_message *message);
    void *arg;
    char buffer[65536];
};

/* Opens both, which must be pipes or sockets, and calls message(arg, ...) for each message that
 * comes. The process ends (exit) when its input does (0), and when that is no protocol or nobody
 * reads (1). */
int pleat_slurm_lines_open(struct pleat_slurm_lines *lines, uv_loop_t *loop,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Each writes one line; `result` and `params` are stolen. */
void pleat_slurm_answer(struct pleat_slurm_lines *lines, int64_t id, json_t *result);
void pleat_slurm_refuse(struct pleat_slurm_lines *lines, int64_t id,
                        const struct pleat_error *error);
void pleat_slurm_notify(struct pleat_slurm_lines *lines, const char *method, json_t *params);
void pleat_slurm_greet(struct pleat_slurm_lines *lines, json_t *extra);
/* Says why it ends, and ends. */
_Noreturn void pleat_slurm_give_up(struct pleat_slurm_lines *lines,
                                   const struct pleat_error *error);

#endif

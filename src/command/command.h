/* command.h - commands and helpers (model/host.h) on a libuv loop, for pleatd and for programs that
 * drive a site themselves.
 *
 * Each is a session of its own, so that it is killed with what it has started in its process group;
 * setpriv (util-linux) has the kernel kill it when the driver ends without a word. Callbacks run
 * from the loop. SIGPIPE must be ignored.
 */
#ifndef PLEAT_COMMAND_COMMAND_H
#define PLEAT_COMMAND_COMMAND_H

#include <uv.h>

#include "model/host.h"

struct pleat_commands;

/* PLEAT_E_NOMEM. */
int pleat_commands_create(uv_loop_t *loop, struct pleat_commands **commands) PLEAT_MUST_CHECK;
/* These four are as in struct pleat_host. */
void pleat_commands_run(struct pleat_commands *commands, const struct pleat_command *command,
                        pleat_command_done *done, void *fn_arg, uint64_t token);
struct pleat_helper *pleat_commands_help(struct pleat_commands *commands,
                                         const struct pleat_command *command,
                                         const struct pleat_helper_callbacks *callbacks,
                                         void *fn_arg);
int pleat_helper_say(struct pleat_helper *helper, const char *line) PLEAT_MUST_CHECK;
void pleat_commands_drop(struct pleat_commands *commands, const void *fn_arg);
/* Ends all: helpers are told by SIGTERM, and have 0.3 s together, for which it blocks; then all are
 * killed. None of their functions is called any more, and none can be begun. The loop has to run
 * on until they have gone. Accepts NULL. */
void pleat_commands_end(struct pleat_commands *commands);
/* Frees it, after pleat_commands_end and when the loop has run. Accepts NULL. */
void pleat_commands_destroy(struct pleat_commands *commands);

#endif

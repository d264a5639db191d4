#include "adapter/program.h"

#include <stdlib.h>
#include <string.h>

#include "command/command.h"

struct running {
    const char *name;
    struct pleat_commands *commands;
    struct pleat_adapter_said *said;
    struct pleat_error *err;
    int failure;
};

static void on_done(void *arg, uint64_t token, const struct pleat_command_result *result)
{
    (void)token;
    struct running *running = arg;
    pleat_commands_end(running->commands);
    running->said->code = result->code;
    switch (result->end) {
    case PLEAT_COMMAND_EXITED:
        if (result->truncated) { /* part of a list would be taken for all of it */
            running->failure = pleat_error_set(running->err, PLEAT_E_TOOBIG,
                                               "%s said more than can be read", running->name);
            return;
        }
        running->said->output = strdup(result->output);
        running->said->errors = strdup(result->errors);
        if (!running->said->output || !running->said->errors)
            abort();
        running->failure = 0;
        return;
    case PLEAT_COMMAND_KILLED:
        running->failure = pleat_error_set(
            running->err, PLEAT_E_SYSTEM, "%s was ended by signal %d", running->name, result->code);
        return;
    case PLEAT_COMMAND_TIMED_OUT:
        running->failure = pleat_error_set(running->err, PLEAT_E_CLOSED, "%s timed out after %d s",
                                           running->name, PLEAT_ADAPTER_PROGRAM_LIMIT_S);
        return;
    case PLEAT_COMMAND_NOT_STARTED:
        running->failure = pleat_error_set(running->err, PLEAT_E_SYSTEM, "%s cannot be started: %s",
                                           running->name, result->errors);
        return;
    }
}

int pleat_adapter_program(const char *const *argv, const char *input,
                          struct pleat_adapter_said *said, struct pleat_error *err)
{
    struct running running = {.name = argv[0], .said = said, .err = err, .failure = PLEAT_E_SYSTEM};
    const struct pleat_command command = {
        .argv = argv,
        .input = input,
        .input_length = input ? strlen(input) : 0,
        .limit_us = PLEAT_ADAPTER_PROGRAM_LIMIT_S * INT64_C(1000000),
    };
    uv_loop_t loop; /* of this thread, for this command */
    int failure = uv_loop_init(&loop);
    if (failure)
        return pleat_error_set(err, PLEAT_E_SYSTEM, "no loop for %s: %s", argv[0],
                               uv_strerror(failure));
    if (pleat_commands_create(&loop, &running.commands))
        abort();
    pleat_commands_run(running.commands, &command, on_done, &running, 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    pleat_commands_destroy(running.commands);
    uv_loop_close(&loop);
    return running.failure;
}

#include "adapter/step.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "adapter/operations.h"
#include "base/write.h"
#include "wire/reply.h"

extern char **environ;

/* How long after the end of its allocation a starter is ended: by then it has told what became of
 * the program, or waits for a node that will never answer. */
enum { OVER_MS = 3000 };
enum { NODE_MAX = 255, VARIABLE_MAX = 250, WORDS_MAX = 256, SAID_MAX = 400, INPUT_MAX = 65536 };

struct step {
    struct step *next;
    uv_process_t process;
    uv_timer_t over;
    struct pleat_adapter_lines *lines;
    uint32_t job;
    char node[NODE_MAX + 1];
    int said; /* what the starter itself writes; a file, since it may outlive us */
    struct pleat_adapter_call *sealing; /* what it is to read is being sealed; NULL: it has that */
    int to;                             /* where it reads that; -1 */
    bool refused;                       /* the request is, so its end is not told */
    bool ended;                         /* while that was being sealed: the request is refused */
};

static struct step *steps; /* the starters that run */

/* The list's end, for exec. */
static void close_list(struct pleat_adapter_words *words)
{
    if (pleat_array_push(words, NULL))
        abort();
}

/* Adds this process's environment, but for names that the variables, or the wanted environment,
 * have already. */
static void fill_environment(struct pleat_adapter_words *variables, json_t *environment)
{
    const char *name;
    json_t *value;
    size_t own = variables->count;
    for (char **at = environ; *at; at++) {
        char key[128];
        size_t length = strcspn(*at, "=");
        snprintf(key, sizeof(key), "%.*s", (int)length, *at);
        bool other = json_object_get(environment, key) != NULL;
        for (size_t i = 0; i < own; i++)
            other = other || !strncmp(variables->items[i], *at, length + 1);
        if (!other)
            pleat_adapter_word(variables, *at);
    }
    json_object_foreach(environment, name, value)
    {
        char start[256];
        snprintf(start, sizeof(start), "%s=", name);
        pleat_adapter_option(variables, start, json_string_value(value));
    }
    close_list(variables);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct step *step = handle->data;
    uv_close((uv_handle_t *)&step->process, on_closed);
}

static void on_over(uv_timer_t *timer)
{
    struct step *step = timer->data;
    if (step->ended)
        return;
    uv_kill(-uv_process_get_pid(&step->process), SIGKILL); /* it is a group of its own */
}

void pleat_adapter_steps_over(uint32_t job)
{
    for (struct step *step = steps; step; step = step->next)
        if (step->job == job && !uv_is_active((uv_handle_t *)&step->over))
            uv_timer_start(&step->over, on_over, OVER_MS, 0);
}

/* Starters that are to be ended a moment later are ended now: nobody would do it then. */
static void end_those_over(void)
{
    for (struct step *step = steps; step; step = step->next)
        if (uv_is_active((uv_handle_t *)&step->over))
            on_over(&step->over);
}

static void forget(struct step *step)
{
    struct step **at = &steps;
    while (*at && *at != step)
        at = &(*at)->next;
    if (*at)
        *at = step->next;
    if (step->said >= 0)
        close(step->said);
    if (step->to >= 0)
        close(step->to);
    uv_close((uv_handle_t *)&step->over, on_timer_closed);
}

static void read_said(const struct step *step, char text[SAID_MAX + 1])
{
    ssize_t count = step->said >= 0 ? pread(step->said, text, SAID_MAX, 0) : 0;
    text[count > 0 ? count : 0] = 0;
}

static void on_exit_of(uv_process_t *process, int64_t code, int signal)
{
    struct step *step = process->data;
    char text[SAID_MAX + 1];
    if (step->sealing) { /* a request is answered once: on_sealed refuses it */
        step->ended = true;
        return;
    }
    if (step->refused) {
        forget(step);
        return;
    }
    read_said(step, text);
    json_t *params = json_pack("{sIsssIsi}", "job", (json_int_t)step->job, "node", step->node,
                               "code", (json_int_t)code, "signal", signal);
    if (!params)
        abort();
    json_object_set_new(params, "text", pleat_json_text(text));
    pleat_adapter_notify(step->lines, "run_ended", params);
    forget(step);
}

/* A file that has no name, with what the program is to read; -1: it cannot be made. */
static int hold_input(const char *input)
{
    int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd >= 0 && (pleat_write_all(fd, input, strlen(input)) || lseek(fd, 0, SEEK_SET) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* input: -1: none. */
static int spawn(uv_loop_t *loop, struct step *step, int input, char **argv, char **environment)
{
    uv_stdio_container_t io[3] = {
        {.flags = input < 0 ? UV_IGNORE : UV_INHERIT_FD, .data.fd = input},
        {.flags = step->said < 0 ? UV_IGNORE : UV_INHERIT_FD, .data.fd = step->said},
        {.flags = step->said < 0 ? UV_IGNORE : UV_INHERIT_FD, .data.fd = step->said},
    };
    const uv_process_options_t options = {
        .exit_cb = on_exit_of,
        .file = argv[0],
        .args = argv,
        .env = environment,
        .flags = UV_PROCESS_DETACHED,
        .stdio_count = 3,
        .stdio = io,
        .cwd = "/",
    };
    step->process.data = step;
    return uv_spawn(loop, &step->process, &options);
}

static int check_texts(const struct pleat_adapter_system *system, const json_t *argv,
                       json_t *environment, struct pleat_error *err)
{
    size_t i;
    json_t *word, *value;
    const char *name;
    if (!json_is_array(argv) || json_array_size(argv) < 1 || json_array_size(argv) > WORDS_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "member 'argv' must be a list of 1 to %d words", WORDS_MAX);
    json_array_foreach(argv, i, word)
    {
        if (!json_is_string(word))
            return pleat_error_set(err, PLEAT_E_INVALID, "member 'argv' must be a list of strings");
    }
    if (environment && !json_is_object(environment))
        return pleat_error_set(err, PLEAT_E_INVALID, "member 'environment' must be an object");
    if (json_object_size(environment) && !system->passes_variables)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "%s cannot give variables to a program that only it sees",
                               system->title);
    json_object_foreach(environment, name, value)
    {
        if (!json_is_string(value) || !name[0] || strchr(name, '=') || strlen(name) > VARIABLE_MAX)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "member 'environment' must have names with strings");
    }
    return 0;
}

/* A request, checked; it borrows from the params. */
struct wanted {
    struct pleat_adapter_step step;
    const char *input; /* NULL: none */
    bool secret;
    const json_t *argv;
    json_t *environment;
};

static int read_params(const struct pleat_adapter_system *system, const json_t *params,
                       struct wanted *wanted, struct pleat_error *err)
{
    int64_t job;
    const char *input = NULL;
    wanted->argv = json_object_get(params, "argv");
    wanted->environment = json_object_get(params, "environment");
    int failure = pleat_get_int(params, "job", true, 1, PLEAT_ADAPTER_JOB_MAX, &job, err);
    failure = failure ? failure : pleat_get_string(params, "node", true, &wanted->step.node, err);
    failure = failure ? failure : pleat_get_string(params, "input", false, &input, err);
    failure = failure ? failure : pleat_get_bool(params, "secret", false, &wanted->secret, err);
    failure = failure ? failure : check_texts(system, wanted->argv, wanted->environment, err);
    if (failure)
        return failure;
    if (input && strlen(input) > INPUT_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID, "member 'input' has more than %d bytes",
                               INPUT_MAX);
    if (!pleat_adapter_is_word(wanted->step.node, NODE_MAX) ||
        strpbrk(wanted->step.node, system->not_in_a_node))
        return pleat_error_set(err, PLEAT_E_INVALID, "member 'node' is no name of a node");
    wanted->step.job = (uint32_t)job;
    wanted->input = input && *input ? input : NULL;
    wanted->step.reads = wanted->input != NULL;
    return 0;
}

static void fill(const struct pleat_adapter_system *system, const struct wanted *wanted,
                 struct pleat_adapter_words *words, struct pleat_adapter_words *variables)
{
    size_t i;
    json_t *word;
    system->step(&wanted->step, words, variables);
    json_array_foreach(wanted->argv, i, word) pleat_adapter_word(words, json_string_value(word));
    close_list(words);
    fill_environment(variables, wanted->environment);
}

/* Starts it, with what is read from `from` (-1: nothing) as input. NULL: it cannot be started. */
static struct step *start(struct pleat_adapter_calls *calls, const struct wanted *wanted, int from,
                          struct pleat_error *err)
{
    struct step *step = calloc(1, sizeof(*step));
    struct pleat_adapter_words words = {0}, variables = {0};
    if (!step)
        abort();
    step->lines = calls->lines;
    uv_timer_init(calls->loop, &step->over);
    step->over.data = step;
    step->job = wanted->step.job;
    step->to = -1;
    snprintf(step->node, sizeof(step->node), "%s", wanted->step.node);
    step->said = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    fill(calls->system, wanted, &words, &variables);
    int failure = spawn(calls->loop, step, from, words.items, variables.items);
    pleat_adapter_words_finish(&words);
    pleat_adapter_words_finish(&variables);
    if (failure) {
        forget(step);
        pleat_error_set(err, PLEAT_E_SYSTEM, "%s cannot be started: %s", calls->system->starter,
                        uv_strerror(failure));
        return NULL;
    }
    step->next = steps;
    steps = step;
    pleat_adapter_at_end(end_those_over);
    return step;
}

static void tell_started(struct pleat_adapter_calls *calls, int64_t id, const struct step *step)
{
    pleat_adapter_answer(calls->lines, id,
                         json_pack("{si}", "pid", uv_process_get_pid(&step->process)));
}

static int start_plain(struct pleat_adapter_calls *calls, int64_t id, const struct wanted *wanted,
                       struct pleat_error *err)
{
    int from = wanted->input ? hold_input(wanted->input) : -1;
    if (wanted->input && from < 0)
        abort();
    const struct step *step = start(calls, wanted, from, err);
    if (from >= 0)
        close(from);
    if (!step)
        return err->code;
    tell_started(calls, id, step);
    return 0;
}

/* ---- an input that is sealed, while the starter starts already ---- */

/* The result is the sealed text, or JSON's null. */
static void carry_out_seal(struct pleat_adapter_call *call)
{
    char *sealed = NULL;
    const char *secret = pleat_reply_text(call->params, "input", "");
    call->failure = call->calls->ops->seal(secret, &sealed, &call->err);
    if (!call->failure)
        call->result = sealed ? json_string(sealed) : json_null();
    free(sealed);
}

/* It got no input, so what it starts does not go on either. */
static void refuse(struct step *step)
{
    step->refused = true;
    on_over(&step->over);
}

/* Gives the starter its input. If it has ended by now, that will be told. */
static int hand_over(const struct step *step, const char *input, struct pleat_error *err)
{
    size_t length = strlen(input);
    if (length > PIPE_BUF) /* what is shorter does not block: nothing is in the pipe */
        return pleat_error_set(err, PLEAT_E_TOOBIG, "a sealed input of %zu bytes; up to %d work",
                               length, PIPE_BUF);
    if (write(step->to, input, length) == (ssize_t)length || errno == EPIPE)
        return 0;
    return pleat_error_sys(err, errno, "a starter cannot be given its input");
}

static int has_ended(const struct step *step, const char *starter, struct pleat_error *err)
{
    char text[SAID_MAX + 1];
    read_said(step, text);
    text[strcspn(text, "\n")] = '\0';
    return pleat_error_set(err, PLEAT_E_SYSTEM, "%s has ended at once%s%s", starter,
                           *text ? ": " : "", text);
}

static void on_sealed(struct pleat_adapter_call *call)
{
    struct step *step = call->arg;
    const char *sealed = json_string_value(call->result);
    int failure = call->failure;
    step->sealing = NULL;
    if (!failure && step->ended)
        failure = has_ended(step, call->calls->system->starter, &call->err);
    if (!failure && !call->late)
        failure = hand_over(step, sealed ? sealed : pleat_reply_text(call->params, "input", ""),
                            &call->err);
    if (failure || call->late)
        refuse(step); /* before it reads the end of its input */
    close(step->to);
    step->to = -1;
    if (!call->late && failure) /* late: it is asked for again */
        pleat_adapter_refuse(call->calls->lines, call->id, &call->err);
    else if (!call->late)
        tell_started(call->calls, call->id, step);
    if (step->ended)
        forget(step);
}

static int start_sealing(struct pleat_adapter_calls *calls, int64_t id, const json_t *params,
                         const struct wanted *wanted, struct pleat_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return pleat_error_sys(err, errno, "no pipe for the input of %s", calls->system->starter);
    struct step *step = start(calls, wanted, ends[0], err);
    close(ends[0]);
    if (!step) {
        close(ends[1]);
        return err->code;
    }
    struct pleat_adapter_call *call = pleat_adapter_call_create(calls, id);
    step->to = ends[1];
    step->sealing = call;
    call->arg = step;
    call->params = json_incref((json_t *)params);
    call->carry_out = carry_out_seal;
    call->done = on_sealed;
    pleat_adapter_call_begin(call);
    return 0;
}

int pleat_adapter_step_start(struct pleat_adapter_calls *calls, int64_t id, const json_t *params,
                             struct pleat_error *err)
{
    struct wanted wanted = {0};
    int failure = read_params(calls->system, params, &wanted, err);
    if (failure)
        return failure;
    return wanted.secret && wanted.input && calls->ops->seal
               ? start_sealing(calls, id, params, &wanted, err)
               : start_plain(calls, id, &wanted, err);
}

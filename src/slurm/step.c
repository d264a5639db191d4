#include "slurm/step.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/write.h"
#include "slurm/operations.h"

extern char **environ;

enum { NODE_MAX = 255, WORDS_MAX = 256, SAID_MAX = 400, INPUT_MAX = 65536 };

PLEAT_ARRAY(words, char *);

struct step {
    uv_process_t process;
    struct pleat_slurm_lines *lines;
    uint32_t job;
    char node[NODE_MAX + 1];
    int said; /* what srun itself writes; a file, since srun may outlive us */
};

static void add(struct words *words, char *text)
{
    if (!text || pleat_array_push(words, text))
        abort();
}

static void add_option(struct words *words, const char *option, const char *value)
{
    char *text;
    add(words, asprintf(&text, "%s%s", option, value) < 0 ? NULL : text);
}

static void finish(struct words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->items[i]);
    pleat_array_finish(words);
}

static void fill_words(struct words *words, uint32_t job, const char *node, bool reads,
                       const json_t *argv)
{
    static const char *const fixed[] = {"srun",
                                        "--overlap",
                                        "--nodes=1",
                                        "--ntasks=1",
                                        "--mem=0",
                                        "--mpi=none",
                                        "--output=none",
                                        "--error=none",
                                        "--chdir=/",
                                        "--quit-on-interrupt",
                                        "--cpu-bind=none",
                                        "--export=ALL",
                                        "--kill-on-bad-exit=0"};
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        add(words, strdup(fixed[i]));
    add(words, strdup(reads ? "--input=all" : "--input=none"));
    char number[16];
    snprintf(number, sizeof(number), "%" PRIu32, job);
    add_option(words, "--jobid=", number);
    add_option(words, "--nodelist=", node);
    add(words, strdup("--"));
    size_t i;
    json_t *word;
    json_array_foreach(argv, i, word) add(words, strdup(json_string_value(word)));
    if (pleat_array_push(words, NULL))
        abort();
}

static void fill_environment(struct words *variables, json_t *environment)
{
    const char *name;
    json_t *value;
    for (char **at = environ; *at; at++) {
        char key[128];
        snprintf(key, sizeof(key), "%.*s", (int)strcspn(*at, "="), *at);
        if (!json_object_get(environment, key))
            add(variables, strdup(*at));
    }
    json_object_foreach(environment, name, value)
    {
        char *text;
        add(variables, asprintf(&text, "%s=%s", name, json_string_value(value)) < 0 ? NULL : text);
    }
    if (pleat_array_push(variables, NULL))
        abort();
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void on_exit_of(uv_process_t *process, int64_t code, int signal)
{
    struct step *step = process->data;
    char text[SAID_MAX + 1];
    ssize_t count = step->said >= 0 ? pread(step->said, text, SAID_MAX, 0) : 0;
    text[count > 0 ? count : 0] = 0;
    json_t *params = json_pack("{sIsssIsi}", "job", (json_int_t)step->job, "node", step->node,
                               "code", (json_int_t)code, "signal", signal);
    if (!params)
        abort();
    json_object_set_new(params, "text", pleat_json_text(text));
    pleat_slurm_notify(step->lines, "run_ended", params);
    if (step->said >= 0)
        close(step->said);
    uv_close((uv_handle_t *)process, on_closed);
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

static int check_texts(const json_t *argv, json_t *environment, struct pleat_error *err)
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
    json_object_foreach(environment, name, value)
    {
        if (!json_is_string(value) || !name[0] || strchr(name, '='))
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "member 'environment' must have names with strings");
    }
    return 0;
}

int pleat_slurm_step_start(struct pleat_slurm_lines *lines, uv_loop_t *loop, int64_t id,
                           const json_t *params, struct pleat_error *err)
{
    int64_t job;
    const char *node, *input = NULL;
    const json_t *argv = json_object_get(params, "argv");
    json_t *environment = json_object_get(params, "environment");
    int failure = pleat_get_int(params, "job", true, 1, PLEAT_SLURM_JOB_MAX, &job, err);
    failure = failure ? failure : pleat_get_string(params, "node", true, &node, err);
    failure = failure ? failure : pleat_get_string(params, "input", false, &input, err);
    failure = failure ? failure : check_texts(argv, environment, err);
    if (failure)
        return failure;
    if (input && strlen(input) > INPUT_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID, "member 'input' has more than %d bytes",
                               INPUT_MAX);
    /* srun would take a list, or the name of a file, for one */
    if (!pleat_slurm_is_word(node, NODE_MAX) || strpbrk(node, "[],/"))
        return pleat_error_set(err, PLEAT_E_INVALID, "member 'node' is no name of a node");
    struct step *step = calloc(1, sizeof(*step));
    struct words words = {0}, variables = {0};
    int from = input && *input ? hold_input(input) : -1;
    if (!step || (input && *input && from < 0))
        abort();
    step->lines = lines;
    step->job = (uint32_t)job;
    snprintf(step->node, sizeof(step->node), "%s", node);
    step->said = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    fill_words(&words, step->job, node, from >= 0, argv);
    fill_environment(&variables, environment);
    failure = spawn(loop, step, from, words.items, variables.items);
    if (from >= 0)
        close(from);
    finish(&words);
    finish(&variables);
    if (failure) {
        if (step->said >= 0)
            close(step->said);
        uv_close((uv_handle_t *)&step->process, on_closed);
        return pleat_error_set(err, PLEAT_E_SYSTEM, "srun cannot be started: %s",
                               uv_strerror(failure));
    }
    pleat_slurm_answer(lines, id, json_pack("{si}", "pid", uv_process_get_pid(&step->process)));
    return 0;
}

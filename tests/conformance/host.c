#include "host.h"

#include <stdlib.h>
#include <string.h>

static int64_t now(void *arg)
{
    return ((struct played_host *)arg)->now_us;
}

static void emit(void *arg, const struct pleat_event *event)
{
    struct played_host *played = arg;
    assert_int_equal(pleat_array_push(&played->events, *event), 0);
}

static void later(void *arg, int64_t delay_us, void (*fn)(void *, uint64_t), void *fn_arg,
                  uint64_t token)
{
    struct played_host *played = arg;
    struct played_call call = {fn, fn_arg, token};
    uint32_t handle;
    assert_true(delay_us >= 0);
    assert_int_equal(pleat_array_push(&played->calls, call), 0);
    assert_int_equal(pleat_heap_push(&played->timers, played->now_us + delay_us,
                                     played->calls.count - 1, &handle),
                     0);
}

/* ---- programs ---- */

/* A helper program that is played. */
struct pleat_helper {
    struct pleat_helper *next;
    struct played_host *played;
    struct pleat_helper_callbacks callbacks;
    void *fn_arg;
    bool over;
};

struct due {
    struct played_host *played;
    struct pleat_helper *helper; /* NULL: a command's answer */
    bool ends;
    pleat_command_done *done;
    void *fn_arg;
    uint64_t token;
    struct played_answer answer;
};

static void on_due(void *arg, uint64_t token)
{
    struct due *due = arg;
    const struct played_answer *answer = &due->answer;
    const struct pleat_command_result result = {
        .end = answer->end,
        .code = answer->code,
        .output = answer->output.text ? answer->output.text : "",
        .output_length = answer->output.length,
        .errors = answer->errors.text ? answer->errors.text : ""};
    (void)token;
    if (!due->helper && due->fn_arg) {
        due->done(due->fn_arg, due->token, &result);
    } else if (due->helper && !due->helper->over) {
        due->helper->over = due->ends;
        if (due->ends)
            due->helper->callbacks.ended(due->helper->fn_arg, &result);
        else
            due->helper->callbacks.line(due->helper->fn_arg, result.output, result.output_length);
    }
    pleat_string_finish(&due->answer.output);
    pleat_string_finish(&due->answer.errors);
    due->fn_arg = NULL;
    due->helper = NULL;
}

/* Makes an answer that is due later; it is kept until the host is finished. */
static struct due *due_new(struct played_host *played)
{
    struct due *due = calloc(1, sizeof(*due));
    assert_non_null(due);
    due->played = played;
    assert_int_equal(pleat_array_push(&played->due, due), 0);
    return due;
}

static void run(void *arg, const struct pleat_command *command, pleat_command_done *done,
                void *fn_arg, uint64_t token)
{
    struct played_host *played = arg;
    struct due *due = due_new(played);
    due->done = done;
    due->fn_arg = fn_arg;
    due->token = token;
    due->answer.end = PLEAT_COMMAND_NOT_STARTED;
    if (played->programs)
        played->programs->run(played->programs->arg, command, &due->answer);
    later(played, due->answer.after_us, on_due, due, 0);
}

static void helper_due(struct pleat_helper *helper, bool ends, int code, const char *line,
                       int64_t delay_us)
{
    struct due *due = due_new(helper->played);
    due->helper = helper;
    due->ends = ends;
    due->answer.code = code;
    pleat_string_add(&due->answer.output, line);
    later(helper->played, delay_us, on_due, due, 0);
}

void played_helper_says(struct pleat_helper *helper, const char *line, int64_t delay_us)
{
    helper_due(helper, false, 0, line, delay_us);
}

void played_helper_ends(struct pleat_helper *helper, int code, int64_t delay_us)
{
    helper_due(helper, true, code, "", delay_us);
}

static struct pleat_helper *helper_start(void *arg, const struct pleat_command *command,
                                         const struct pleat_helper_callbacks *callbacks,
                                         void *fn_arg)
{
    struct played_host *played = arg;
    struct pleat_helper *helper = calloc(1, sizeof(*helper));
    assert_non_null(helper);
    assert_non_null(command->argv[0]);
    helper->next = played->helpers;
    played->helpers = helper;
    helper->played = played;
    helper->callbacks = *callbacks;
    helper->fn_arg = fn_arg;
    if (!played->programs)
        played_helper_ends(helper, 127, 0);
    return helper;
}

static int helper_say(void *arg, struct pleat_helper *helper, const char *line)
{
    struct played_host *played = arg;
    if (helper->over)
        return PLEAT_E_STATE;
    if (played->programs)
        played->programs->said(played->programs->arg, helper, line);
    return 0;
}

static void on_agent(void *arg, uint64_t token)
{
    struct played_host *played = arg;
    played->site->ops->agent(played->site, (uint32_t)token, true);
}

/* An agent that is started calls after a while. */
static int agent_call(void *arg, uint32_t site, uint32_t node, struct pleat_agent_call *call,
                      struct pleat_error *err)
{
    static const char *const argv[] = {"/usr/bin/pleat-agent", NULL};
    struct played_host *played = arg;
    (void)site;
    (void)err;
    *call = (struct pleat_agent_call){.argv = argv};
    played->agent_calls++;
    if (played->agent_us >= 0)
        later(played, played->agent_us, on_agent, played, node);
    return 0;
}

static void say(void *arg, uint32_t site, const char *text)
{
    (void)site;
    ((struct played_host *)arg)->said++;
    assert_true(text[0] != '\0');
}

static void tell(void *arg, uint32_t index, uint64_t claim, const char *text)
{
    (void)index;
    (void)claim;
    ((struct played_host *)arg)->told++;
    assert_true(text[0] != '\0');
}

static void drop(void *arg, void *fn_arg)
{
    struct played_host *played = arg;
    for (struct pleat_helper *helper = played->helpers; helper; helper = helper->next)
        helper->over = helper->over || helper->fn_arg == fn_arg;
    for (size_t i = 0; i < played->due.count; i++)
        if (played->due.items[i]->fn_arg == fn_arg)
            played->due.items[i]->fn_arg = NULL;
    for (size_t i = 0; i < played->calls.count; i++)
        if (played->calls.items[i].arg == fn_arg)
            played->calls.items[i].fn = NULL;
}

static void programs_finish(struct played_host *played)
{
    for (size_t i = 0; i < played->due.count; i++) {
        pleat_string_finish(&played->due.items[i]->answer.output);
        pleat_string_finish(&played->due.items[i]->answer.errors);
        free(played->due.items[i]);
    }
    pleat_array_finish(&played->due);
    for (struct pleat_helper *next, *helper = played->helpers; helper; helper = next) {
        next = helper->next;
        free(helper);
    }
}

void played_host_init(struct played_host *played)
{
    memset(played, 0, sizeof(*played));
    played->host = (struct pleat_host){.arg = played,
                                       .now_us = now,
                                       .emit = emit,
                                       .later = later,
                                       .run = run,
                                       .helper_start = helper_start,
                                       .helper_say = helper_say,
                                       .agent_call = agent_call,
                                       .say = say,
                                       .tell = tell,
                                       .drop = drop};
    played->now_us = 1000000;
    pleat_heap_init(&played->timers);
}

void played_host_finish(struct played_host *played)
{
    programs_finish(played);
    pleat_array_finish(&played->events);
    pleat_array_finish(&played->calls);
    pleat_heap_finish(&played->timers);
}

void played_host_run(struct played_host *played)
{
    while (pleat_heap_first(&played->timers)) {
        struct pleat_heap_entry entry = pleat_heap_pop(&played->timers);
        struct played_call call = played->calls.items[entry.payload];
        if (entry.time_us > played->now_us)
            played->now_us = entry.time_us;
        if (call.fn)
            call.fn(call.arg, call.token);
    }
}

void played_host_mark(struct played_host *played)
{
    played->mark = played->events.count;
}

int played_host_count(const struct played_host *played, unsigned kind, struct pleat_event *last)
{
    int count = 0;
    for (size_t i = played->mark; i < played->events.count; i++) {
        if (played->events.items[i].kind != kind)
            continue;
        count++;
        if (last)
            *last = played->events.items[i];
    }
    return count;
}

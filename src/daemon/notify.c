/* Runs the commands that users want run when something happens to their jobs (--notify).
 *
 * A notification is made from a note after the note is written, so it is never made twice: a
 * restarted daemon makes none from the notes that it reads. Commands that were not started when a
 * daemon died are lost. Commands are started from the loop, never inside a turn. Those of one job
 * run one after the other. Nothing waits for them. A command that fails or takes too long leaves a
 * note of its own.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/oom.h"
#include "daemon/daemon.h"
#include "daemon/files.h"
#include "daemon/jobs.h"
#include "daemon/notes.h"
#include "daemon/notify.h"
#include "daemon/specs.h"
#include "daemon/turn_inputs.h"

enum { RUNNING_MAX = 8, WAITING_MAX = 10000, LAST_WORDS_US = 5000000 };

struct notification {
    struct notification *next;
    struct daemon *daemon;
    int64_t job;
    const char *event; /* a literal, never freed */
    char *command, *cwd;
    struct pleat_string env; /* NAME=VALUE strings, each with its NUL */
    uv_process_t process;
    uv_timer_t limit;
    bool running, timed_out;
    int open_handles;
};

static void begin_some(struct daemon *d);

/* ---- the command's environment ---- */

static const char *event_of_state(const json_t *data)
{
    const char *from = json_string_value(json_object_get(data, "from"));
    const char *to = json_string_value(json_object_get(data, "to"));
    if (!from || !to)
        return NULL;
    if (!strcmp(to, pleat_component_state_name(PLEAT_DONE)))
        return "end";
    if (!strcmp(to, pleat_component_state_name(PLEAT_FAILED)) ||
        !strcmp(to, pleat_component_state_name(PLEAT_CANCELLED)))
        return "fail";
    return !strcmp(from, pleat_component_state_name(PLEAT_CLAIMING)) &&
                   !strcmp(to, pleat_component_state_name(PLEAT_RUNNING))
               ? "start"
               : NULL;
}

static const char *event_of(const struct made_note *note)
{
    const char *step = json_string_value(json_object_get(note->data, "step"));
    if (!strcmp(note->kind, "state"))
        return event_of_state(note->data);
    if (!strcmp(note->kind, "resize"))
        return step && !strcmp(step, "ended") ? "resize" : NULL;
    return strcmp(note->kind, "warning") ? NULL : "warning";
}

static void add(struct pleat_string *env, const char *name, const char *value)
{
    pleat_string_addf(env, "%s=%s", name, value);
    pleat_string_add_bytes(env, "", 1);
}

static void add_number(struct pleat_string *env, const char *name, int64_t number)
{
    char text[24];
    snprintf(text, sizeof(text), "%lld", (long long)number);
    add(env, name, text);
}

/* Adds the note's members as variables, where the note has them. */
static void add_members(struct pleat_string *env, const json_t *data)
{
    static const char *const members[][2] = {{"reason", "PLEAT_REASON"},
                                             {"text", "PLEAT_TEXT"},
                                             {"outcome", "PLEAT_OUTCOME"},
                                             {"from", "PLEAT_FROM"},
                                             {"to", "PLEAT_TO"}};
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        const json_t *value = json_object_get(data, members[i][0]);
        if (json_is_string(value))
            add(env, members[i][1], json_string_value(value));
        else if (json_is_integer(value))
            add_number(env, members[i][1], json_integer_value(value));
    }
}

static void describe(struct notification *n, const struct job *job, const struct made_note *note)
{
    struct daemon *d = n->daemon;
    const struct pleat_component *component = job_component(d, job);
    struct pleat_error ignored;
    const struct pleat_spec *spec = spec_of(d, job->id, &ignored);
    for (char **variable = spec ? spec->env : NULL; variable && *variable; variable++)
        if (strncmp(*variable, "PLEAT_", 6) != 0) {
            pleat_string_add(&n->env, *variable);
            pleat_string_add_bytes(&n->env, "", 1);
        }
    if (getenv("PLEAT_DIR"))
        add(&n->env, "PLEAT_DIR", getenv("PLEAT_DIR"));
    add_number(&n->env, "PLEAT_JOB", job->id);
    add(&n->env, "PLEAT_JOB_NAME", job_name(d, job->id));
    add(&n->env, "PLEAT_EVENT", n->event);
    add(&n->env, "PLEAT_STATE",
        pleat_component_state_name((enum pleat_component_state)component->state));
    add_number(&n->env, "PLEAT_PROCESSORS", component->processors);
    if (pleat_component_state_is_final((enum pleat_component_state)component->state)) {
        add_number(&n->env, "PLEAT_EXIT_CODE", component->code);
        add_number(&n->env, "PLEAT_SIGNAL", component->signal);
    }
    add_members(&n->env, note->data);
}

/* ---- running ---- */

static void note_failure(struct daemon *d, int64_t job, const char *event, const char *text)
{
    char whole[700];
    snprintf(whole, sizeof(whole),
             "the command for '%s' %s; what it said is in %s/jobs/%lld/notify", event, text,
             d->paths.state, (long long)job);
    note_make(d, daemon_now_us(d), "notify", job, note_text(whole));
    turn_want(d); /* no other input may come for long */
}

static void finish(struct notification *n)
{
    struct notifications *all = &n->daemon->notifications;
    for (struct notification **at = &all->first; *at; at = &(*at)->next) {
        if (*at == n) {
            *at = n->next;
            if (all->last == &n->next)
                all->last = at;
            break;
        }
    }
    pleat_string_finish(&n->env);
    free(n->command);
    free(n->cwd);
    free(n);
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct notification *n = handle->data;
    if (--n->open_handles > 0)
        return;
    struct daemon *d = n->daemon;
    finish(n);
    if (d->notifications.starter_ready)
        begin_some(d);
}

static void close_handles(struct notification *n)
{
    if (!uv_is_closing((uv_handle_t *)&n->process))
        uv_close((uv_handle_t *)&n->process, on_handle_closed);
    if (!uv_is_closing((uv_handle_t *)&n->limit))
        uv_close((uv_handle_t *)&n->limit, on_handle_closed);
}

static void on_exited(uv_process_t *process, int64_t code, int signal)
{
    struct notification *n = process->data;
    char text[80] = "";
    n->daemon->notifications.running--;
    if (n->timed_out)
        snprintf(text, sizeof(text), "took more than %.0f s and was ended",
                 (double)n->daemon->config.notify_limit_us / 1e6);
    else if (signal)
        snprintf(text, sizeof(text), "was ended by signal %d", signal);
    else if (code)
        snprintf(text, sizeof(text), "ended with code %lld", (long long)code);
    if (*text)
        note_failure(n->daemon, n->job, n->event, text);
    close_handles(n);
}

static void on_limit(uv_timer_t *timer)
{
    struct notification *n = timer->data;
    n->timed_out = true;
    (void)kill(-n->process.pid, SIGKILL); /* leader of its session, not reaped yet */
}

/* The file to which the commands of a job write, in the job's directory; -1: it cannot be opened.
 */
static int open_output(struct daemon *d, int64_t job)
{
    char path[600];
    if (job_directory_make(d, job, NULL))
        return -1;
    job_output_path(d, job, "notify", path, sizeof(path));
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* The variables as a list for exec; of two with the same name the later one counts. NULL: out of
 * memory. */
static char **list_of(struct pleat_string *env)
{
    size_t count = 0;
    for (size_t at = 0; at < env->length; at += strlen(env->text + at) + 1)
        count++;
    char **list = env->failed ? NULL : calloc(count + 1, sizeof(*list));
    count = 0;
    for (size_t at = 0; list && at < env->length; at += strlen(env->text + at) + 1)
        list[count++] = env->text + at;
    return list;
}

static int spawn(struct notification *n)
{
    /* the shell changes the directory, since uv_spawn would block the loop if its file system hangs
     */
    static char go[] = "cd \"$1\" 2>/dev/null || cd /; exec /bin/sh -c \"$2\"";
    char *args[] = {(char[]){"sh"}, (char[]){"-c"}, go, (char[]){"sh"}, n->cwd, n->command, NULL};
    int fd = open_output(n->daemon, n->job);
    uv_stdio_container_t stdio[3] = {
        {.flags = UV_IGNORE}, {.flags = UV_IGNORE}, {.flags = UV_IGNORE}};
    if (fd >= 0) {
        stdio[1].flags = stdio[2].flags = UV_INHERIT_FD;
        stdio[1].data.fd = stdio[2].data.fd = fd;
    }
    uv_process_options_t options = {
        .exit_cb = on_exited,
        .file = "/bin/sh",
        .args = args,
        .env = list_of(&n->env),
        .cwd = "/",
        .flags = UV_PROCESS_DETACHED,
        .stdio_count = 3,
        .stdio = stdio,
    };
    pleat_oom_first(); /* the child inherits it */
    int rc = options.env ? uv_spawn(&n->daemon->loop, &n->process, &options) : UV_ENOMEM;
    pleat_oom_last();
    free(options.env);
    if (fd >= 0)
        close(fd);
    return rc;
}

static void begin(struct notification *n)
{
    struct daemon *d = n->daemon;
    d->notifications.waiting--;
    n->running = true;
    n->open_handles = 2;
    n->process.data = n->limit.data = n;
    uv_timer_init(&d->loop, &n->limit);
    int rc = spawn(n);
    if (rc == 0) {
        d->notifications.running++;
        uv_timer_start(&n->limit, on_limit, (uint64_t)(d->config.notify_limit_us / 1000), 0);
        return;
    }
    char text[80];
    snprintf(text, sizeof(text), "could not be started (%s)", uv_strerror(rc));
    note_failure(d, n->job, n->event, text);
    if (rc == UV_ENOMEM && !n->process.loop) { /* uv_spawn has not initialized the process handle */
        n->open_handles = 1;
        uv_close((uv_handle_t *)&n->limit, on_handle_closed);
    } else {
        close_handles(n);
    }
}

static bool job_has_one(const struct notification *before)
{
    for (const struct notification *n = before->daemon->notifications.first; n && n != before;
         n = n->next)
        if (n->job == before->job)
            return true;
    return false;
}

static void begin_some(struct daemon *d)
{
    struct notifications *all = &d->notifications;
    for (struct notification *n = all->first; n && all->running < RUNNING_MAX; n = n->next)
        if (!n->running && !job_has_one(n))
            begin(n);
}

static void on_starter(uv_timer_t *timer)
{
    begin_some(timer->data);
}

/* ---- from and to the daemon ---- */

/* Most jobs do not: of these the spec is not parsed. */
static bool job_notifies(struct daemon *d, int64_t job)
{
    struct pleat_error ignored;
    return json_is_string(json_object_get(spec_json(d, job, &ignored), "notify"));
}

void notify_note(struct daemon *d, const struct made_note *note)
{
    struct notifications *all = &d->notifications;
    const char *event = note->job < 0 ? NULL : event_of(note);
    const struct job *job = event ? job_find(d, note->job) : NULL;
    const struct pleat_spec *spec = job && job_notifies(d, job->id) ? job_spec(d, job->id) : NULL;
    if (!spec || !spec->notify || !(spec->notify_on & pleat_notify_bit(event)))
        return;
    struct notification *n = all->waiting < WAITING_MAX ? calloc(1, sizeof(*n)) : NULL;
    if (n) {
        n->daemon = d;
        n->job = job->id;
        n->event = event;
        n->command = strdup(spec->notify);
        n->cwd = strdup(spec->cwd);
        describe(n, job, note);
    }
    if (!n || !n->command || !n->cwd || n->env.failed) {
        daemon_log("job %lld: its --notify command for '%s' is not run: too many such commands "
                   "wait, or memory is short",
                   (long long)job->id, event);
        if (n) {
            pleat_string_finish(&n->env);
            free(n->command);
            free(n->cwd);
            free(n);
        }
        return;
    }
    *(all->last ? all->last : &all->first) = n;
    all->last = &n->next;
    all->waiting++;
    if (!all->starter_ready) {
        uv_timer_init(&d->loop, &all->starter);
        all->starter.data = d;
        all->starter_ready = true;
    }
    uv_timer_start(&all->starter, on_starter, 0, 0);
}

bool notify_busy(const struct daemon *d)
{
    return d->notifications.waiting + d->notifications.running > 0;
}

bool notify_has(const struct daemon *d, int64_t job)
{
    const struct notification *n = d->notifications.first;
    while (n && n->job != job)
        n = n->next;
    return n != NULL;
}

void notify_finish(struct daemon *d)
{
    struct notifications *all = &d->notifications;
    int64_t until = pleat_clock_monotonic_us() + LAST_WORDS_US;
    while (notify_busy(d) && pleat_clock_monotonic_us() < until)
        uv_run(&d->loop, UV_RUN_ONCE);
    if (all->waiting)
        daemon_log("%d notifications are left out: the daemon ends", all->waiting);
    if (all->starter_ready)
        uv_close((uv_handle_t *)&all->starter, NULL);
    all->starter_ready = false;
    for (struct notification *n = all->first, *next; n; n = next) {
        next = n->next;
        if (n->running)
            close_handles(n); /* the command goes on, and nothing waits for it */
        else
            finish(n);
    }
    all->waiting = all->running = 0;
}

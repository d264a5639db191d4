#include "cli/doctor/check.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/utf8.h"

extern char **environ;

enum { OUTPUT_MAX = 65536, NOT_EXECUTED = 127 };

const char *doctor_state_name(enum doctor_state state)
{
    static const char *const names[] = {"ok", "warning", "failed", "not checked"};
    return names[state];
}

/* What programs print may be in any encoding. */
static void make_utf8(char *text)
{
    for (char *at = text; !pleat_utf8_is(text) && *at; at++)
        if ((unsigned char)*at >= 0x80)
            *at = '?';
}

/* One line of JSON for each result, in one write: what was told before a check hangs is known. */
void doctor_tell(struct doctor *doctor, enum doctor_state state, const char *subject,
                 const char *advice, const char *fmt, ...)
{
    char seen[600];
    va_list args;
    va_start(args, fmt);
    vsnprintf(seen, sizeof(seen), fmt, args);
    va_end(args);
    make_utf8(seen);
    json_t *object = json_pack("{s:s?, s:s, s:s, s:s?}", "subject", subject, "state",
                               doctor_state_name(state), "seen", seen, "advice", advice);
    char *line = object ? json_dumps(object, JSON_COMPACT) : NULL;
    if (line) {
        size_t length = strlen(line);
        line[length] = '\n';
        (void)!write(doctor->report, line, length + 1);
    }
    free(line);
    json_decref(object);
}

static void become(char *const argv[], char *const env[], int output)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0)
        _exit(NOT_EXECUTED);
    execvpe(argv[0], argv, env ? env : environ);
    dprintf(2, "%s: %s\n", argv[0], strerror(errno));
    _exit(NOT_EXECUTED);
}

int doctor_execute(char *const argv[], char *const env[], struct pleat_string *output)
{
    int ends[2], status = 0;
    char some[4096];
    if (pipe2(ends, O_CLOEXEC))
        return NOT_EXECUTED;
    pid_t pid = fork();
    if (pid == 0)
        become(argv, env, ends[1]);
    close(ends[1]);
    for (ssize_t got; pid > 0 && (got = read(ends[0], some, sizeof(some))) != 0;) {
        if (got < 0 && errno != EINTR)
            break;
        if (got > 0 && output->length < OUTPUT_MAX)
            pleat_string_add_bytes(output, some, (size_t)got);
    }
    close(ends[0]);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return NOT_EXECUTED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

const char *doctor_first_line(const struct pleat_string *text)
{
    static char line[240];
    const char *at = text->text ? text->text : "";
    at += strspn(at, " \n\t-=*");
    size_t length = strcspn(at, "\n");
    snprintf(line, sizeof(line), "%.*s",
             length < sizeof(line) ? (int)length : (int)sizeof(line) - 1, at);
    return *line ? line : "it printed nothing";
}

json_t *doctor_look_by_agent(struct doctor *doctor)
{
    char path[4200];
    struct pleat_string output = {0};
    struct pleat_error err;
    char *argv[] = {path, (char *)"--check", NULL};
    json_t *seen = NULL;
    if (!pleat_paths_beside("pleat-agent", path, sizeof(path), &err) &&
        doctor_execute(argv, NULL, &output) == 0 && output.text)
        seen = json_loads(output.text, 0, NULL);
    if (!seen)
        doctor_tell(doctor, DOCTOR_UNCHECKED, NULL, "see the check 'programs'",
                    "pleat-agent could not look: %s", doctor_first_line(&output));
    pleat_string_finish(&output);
    return seen;
}

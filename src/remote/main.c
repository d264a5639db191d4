/* pleat-remote - the program that MPI launchers of a job on several nodes call in the place of ssh.
 * On the node where it runs it becomes the command; for another one it asks the agent that leads
 * the run, which has it started there through pleatd and that node's agent. It ends as the command
 * does.
 *
 * Nothing that it is told becomes an argument of another process, and only its environment says
 * where the agent is. The command has no input: neither orted nor hydra's proxy reads any. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/remote.h"
#include "base/socket.h"
#include "base/write.h"
#include "remote/environment.h"
#include "wire/message.h"

enum { EXIT_USAGE = 2, EXIT_LOST = 255 /* as ssh says it */, FEED = 65536, STREAMS = 2 };

static const char usage[] =
    "usage: pleat-remote [-x] HOST COMMAND...\n"
    "\n"
    "Starts a command on another node of the job that this process belongs to. MPI launchers call "
    "it\n"
    "in the place of ssh; it is of no use outside a job.\n"
    "\n"
    "  -x               ignored\n"
    "  --help, --version\n"
    "\n"
    "Exit codes: that of the command, 128 + N if signal N ended it; 255 it could not be started, "
    "or "
    "its\n"
    "end is not known; 2 usage.\n";

static int fail(int code, const char *text)
{
    fprintf(stderr, "pleat-remote: %s\n", text);
    return code;
}

/* The words with blanks between them, as ssh hands them to a shell. A shell that would only wait
 * for its one command becomes that: how it ends is then known, and not only what the shell makes of
 * it. (Where launchers set variables first, the first word is an assignment.) */
static char *join(char *const *words)
{
    struct pleat_string text = {0};
    if (!strchr(words[0], '='))
        pleat_string_add(&text, "exec ");
    for (size_t i = 0; words[i]; i++)
        pleat_string_addf(&text, "%s%s", i ? " " : "", words[i]);
    if (text.failed)
        pleat_string_finish(&text);
    return text.text;
}

/* ---- on this node ---- */

static int become(char *command)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0)
        (void)dup2(null, STDIN_FILENO);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    return fail(EXIT_LOST, strerror(errno));
}

/* ---- on another one ---- */

extern char **environ;

static json_t *environment(void)
{
    json_t *list = json_array();
    for (char **entry = environ; list && *entry; entry++) {
        json_t *text = json_string(*entry); /* NULL: no UTF-8, which the wire cannot carry */
        if (text && json_array_append_new(list, text))
            return NULL;
    }
    return list;
}

static bool ask(int fd, const char *host, const char *command)
{
    struct pleat_string out = {0};
    char cwd[PATH_MAX];
    json_t *params = NULL;
    if (getcwd(cwd, sizeof(cwd)))
        params = json_pack("{s:s, s:s, s:s, s:o}", "name", host, "command", command, "cwd", cwd,
                           "env", environment());
    bool sent = params && !pleat_write_hello(&out, "remote", NULL) &&
                !pleat_write_request(&out, 1, "part", params) &&
                !pleat_write_all(fd, out.text, out.length);
    pleat_string_finish(&out);
    return sent;
}

/* Says what was handed on: the agent of the node where it was written keeps it until then. */
static void show(int fd, const struct pleat_message *message)
{
    static int64_t handed[STREAMS];
    struct pleat_string out = {0};
    int64_t stream = 1;
    if (!message->bytes ||
        pleat_get_int(message->params, "stream", true, 1, STREAMS, &stream, NULL))
        return;
    /* a launcher that does not read the output does not want it */
    (void)pleat_write_all(stream == 2 ? STDERR_FILENO : STDOUT_FILENO, message->bytes,
                          message->bytes_count);
    handed[stream - 1] += (int64_t)message->bytes_count;
    if (!pleat_write_notification(&out, "heard",
                                  json_pack("{s:I, s:I}", "stream", (json_int_t)stream, "offset",
                                            (json_int_t)handed[stream - 1])))
        (void)pleat_write_all(fd, out.text, out.length); /* if this fails, so does reading */
    pleat_string_finish(&out);
}

/* Takes a message of the agent. Returns the command's exit code, or -1: the command has not
 * ended. */
static int take(int fd, const struct pleat_message *message)
{
    if (message->kind == PLEAT_NOTIFICATION && !strcmp(message->method, "output"))
        show(fd, message);
    if (message->kind == PLEAT_FAILURE)
        return fail(EXIT_LOST, message->error.text);
    if (message->kind != PLEAT_RESULT)
        return -1;
    const char *text = json_string_value(json_object_get(message->result, "text"));
    int64_t code = EXIT_LOST, ended = 0;
    if (pleat_get_int(message->result, "code", true, -1, 255, &code, NULL) ||
        pleat_get_int(message->result, "signal", false, 0, 127, &ended, NULL))
        return fail(EXIT_LOST, "the answer of the agent makes no sense");
    if (text)
        (void)fail(0, text);
    return ended ? 128 + (int)ended : code < 0 ? EXIT_LOST : (int)code;
}

static int follow(int fd, struct pleat_reader *reader)
{
    static char bytes[FEED];
    struct pleat_error err = {0};
    for (;;) {
        ssize_t count = read(fd, bytes, sizeof(bytes));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return fail(EXIT_LOST, "the agent of this job is gone");
        if (pleat_reader_feed(reader, bytes, (size_t)count, &err))
            return fail(EXIT_LOST, err.text);
        struct pleat_message message;
        int rc;
        while ((rc = pleat_reader_next(reader, &message, &err)) == 1) {
            int code = take(fd, &message);
            pleat_message_finish(&message);
            if (code >= 0)
                return code;
        }
        if (rc)
            return fail(EXIT_LOST, err.text);
    }
}

static int start_there(const char *path, const char *host, const char *command)
{
    struct pleat_reader *reader = NULL;
    int fd = pleat_socket_connect(path);
    if (fd < 0)
        return fail(EXIT_LOST, "the agent of this job does not listen");
    if (pleat_reader_create(&reader))
        return fail(EXIT_LOST, "out of memory");
    int code = ask(fd, host, command)
                   ? follow(fd, reader)
                   : fail(EXIT_LOST, "the agent of this job cannot be asked: the "
                                     "environment is too long, or it is gone");
    pleat_reader_destroy(reader);
    close(fd);
    return code;
}

/* A signal for the launcher, or one from a terminal, reaches the command through the launcher.
 * SIGTERM ends this process, and with it the command; so does the launcher's end. */
static void prepare_signals(void)
{
    static const int ignored[] = {SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGPIPE};
    for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
        (void)signal(ignored[i], SIG_IGN);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
}

int main(int argc, char **argv)
{
    char **words = argv + 1;
    if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "--version"))) {
        printf("%s", !strcmp(argv[1], "--help") ? usage : "pleat-remote " PLEAT_VERSION "\n");
        return 0;
    }
    if (words[0] && !strcmp(words[0], "-x"))
        words++;
    const char *path = getenv(PLEAT_REMOTE_ENV), *here = getenv(PLEAT_REMOTE_HERE_ENV);
    if (!words[0] || !words[1] || *words[0] == '-') {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    if (!path || !here)
        return fail(EXIT_LOST, "this is no process of a job on several nodes (" PLEAT_REMOTE_ENV
                               " is not set)");
    bool is_here = !strcmp(words[0], here);
    char *command = join(words + 1), *socket_path = strdup(path);
    if (!command || !socket_path || pleat_remote_environment(words[0], is_here))
        return fail(EXIT_LOST, "out of memory");
    if (is_here)
        return become(command);
    prepare_signals();
    int code = start_there(socket_path, words[0], command);
    free(command);
    free(socket_path);
    return code;
}

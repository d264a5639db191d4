#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/common/daemon.h"
#include "cli/common/reply.h"
#include "cli/instance/commands.h"

/* A pidfd of the daemon's process; -1: its pid is not known. */
static int process_of(const struct pleat_client *client)
{
    int pid = pleat_reply_small(pleat_client_hello(client), "pid", 0, INT_MAX);
    return pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

/* Waits until the daemon has closed the connection, and then until its process has ended. Until
 * then it may still write its files. Returns the exit code. */
static int wait_for_end(struct pleat_client *client, int process)
{
    const struct pleat_message *message;
    struct pollfd polled = {.fd = process, .events = POLLIN};
    int code = PLEAT_EXIT_OK;
    while (pleat_client_next_notification(client, -1, &message, NULL) == 1) {
        const char *text = json_string_value(json_object_get(message->params, "text"));
        if (strcmp(message->method, "left") != 0 || !text)
            continue;
        pleat_say("%s", text);
        code = PLEAT_EXIT_FAILED;
    }
    while (process >= 0 && poll(&polled, 1, -1) < 0 && errno == EINTR)
        ;
    return code;
}

static int stop(bool force)
{
    struct pleat_paths paths;
    struct pleat_error err = {0};
    struct pleat_client *client;
    int status = pleat_paths_init(&paths, &err);
    if (!status)
        status = pleat_client_open(&paths, &client, &err);
    if (status == PLEAT_E_NOTFOUND) {
        pleat_say("%s: nothing to stop", err.text);
        return PLEAT_EXIT_OK;
    }
    if (status) {
        pleat_fail(&err);
        return PLEAT_EXIT_NO_DAEMON;
    }
    int process = process_of(client);
    int code = pleat_daemon_ask(client, "stop", json_pack("{s:b}", "force", force), NULL);
    if (!code)
        code = wait_for_end(client, process);
    if (process >= 0)
        close(process);
    pleat_client_close(client);
    return code;
}

static int run_stop(int argc, char **argv)
{
    static const struct option own[] = {{"force", no_argument, NULL, 'f'}, {0}};
    struct pleat_options options;
    bool force = false;
    int option;
    pleat_options_init(&options, &pleat_cmd_stop, argc, argv, own, NULL);
    while ((option = pleat_options_next(&options)) == 'f')
        force = true;
    if (option == PLEAT_OPTION_EXIT)
        return options.exit_code;
    int code = pleat_options_count(&options, 0, 0);
    return code ? code : stop(force);
}

const struct pleat_cli_command pleat_cmd_stop = {
    .name = "stop",
    .arguments = "[--force]",
    .summary = "Ends the daemon (it is started again when needed)",
    .help = "Refused while jobs wait or run. Returns when the daemon has ended.\n"
            "\n"
            "Options:\n"
            "      --force      cancel the jobs\n"
            "\n"
            "Exit codes: 0 (also if no daemon ran); 1 refused, or not all ended; 2 usage; 3 the\n"
            "daemon cannot be reached.\n"
            "\n"
            "Example:\n"
            "  pleat stop --force\n",
    .run = run_stop,
};

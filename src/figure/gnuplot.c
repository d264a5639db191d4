/* gnuplot.c - runs gnuplot as a child. Its input and outputs are files in memory, so that there is
 * no waiting for each other, and nothing is left behind. */
#include "figure/gnuplot.h"
#include "base/write.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { INPUT, OUTPUT, ERRORS, FILE_COUNT }; /* they become the child's descriptors 0, 1, 2 */

static void close_all(const int files[FILE_COUNT])
{
    for (int i = 0; i < FILE_COUNT; i++)
        if (files[i] >= 0)
            close(files[i]);
}

static int open_all(int files[FILE_COUNT])
{
    for (int i = 0; i < FILE_COUNT; i++)
        files[i] = -1;
    for (int i = 0; i < FILE_COUNT; i++)
        if ((files[i] = memfd_create("pleat-gnuplot", MFD_CLOEXEC)) < 0) {
            int reason = errno;
            close_all(files);
            return reason;
        }
    return 0;
}

/* The environment without the user's choice of a terminal: gnuplot would fail where it does not
 * have that. NULL: out of memory. The strings are not copied. */
static char **make_environment(void)
{
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **made = calloc(count + 1, sizeof(*made));
    for (size_t i = 0; made && i < count; i++)
        if (strncmp(environ[i], "GNUTERM=", strlen("GNUTERM=")) != 0)
            made[kept++] = environ[i];
    return made;
}

/* Starts the child. The files were opened in the order of its descriptors, so that no file
 * overwrites the descriptor of another that is still needed. */
static int spawn(const char *const *arguments, const int files[FILE_COUNT], pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    int reason = posix_spawn_file_actions_init(&actions);
    if (reason)
        return reason;
    char **environment = make_environment();
    if (!environment)
        reason = ENOMEM;
    for (int i = 0; i < FILE_COUNT && !reason; i++)
        reason = posix_spawn_file_actions_adddup2(&actions, files[i], i);
    if (!reason)
        reason =
            posix_spawnp(pid, arguments[0], &actions, NULL, (char *const *)arguments, environment);
    free(environment);
    posix_spawn_file_actions_destroy(&actions);
    return reason;
}

static int read_all(int file, struct pleat_string *out)
{
    char some[16384];
    ssize_t count;
    for (off_t at = 0; (count = pread(file, some, sizeof(some), at)) > 0; at += count)
        pleat_string_add_bytes(out, some, (size_t)count);
    return count < 0 ? errno : 0;
}

/* Reports an error of a program. gnuplot prints the line that it could not read, a mark below it,
 * then the error. Other programs print the error in their first line. */
static int report(const char *program, int errors, int status, struct pleat_error *err)
{
    struct pleat_string text = {0};
    if (WIFSIGNALED(status))
        return pleat_error_set(err, PLEAT_E_SYSTEM, "%s was ended by signal %d", program,
                               WTERMSIG(status));
    if (read_all(errors, &text))
        pleat_string_finish(&text);
    const char *words = text.text ? strstr(text.text, "line ") : NULL;
    if (!words)
        words = text.text && *text.text ? text.text : "it did not say why";
    int code = pleat_error_set(err, PLEAT_E_INVALID, "%s could not draw it: %.*s", program,
                               (int)strcspn(words, "\n"), words);
    pleat_string_finish(&text);
    return code;
}

static int wait_for(pid_t pid, int *status)
{
    while (waitpid(pid, status, 0) < 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

int pleat_filter_run(const char *const *arguments, const struct pleat_string *input,
                     struct pleat_string *out, struct pleat_error *err)
{
    const char *program = arguments[0];
    int files[FILE_COUNT], status = 0;
    pid_t pid;
    int reason = open_all(files);
    if (reason)
        return pleat_error_sys(err, reason, "cannot make a file in memory for %s", program);
    reason = pleat_write_all(files[INPUT], input->text, input->length);
    if (!reason && lseek(files[INPUT], 0, SEEK_SET) < 0)
        reason = errno;
    if (!reason)
        reason = spawn(arguments, files, &pid);
    if (!reason)
        reason = wait_for(pid, &status);
    if (!reason && status == 0)
        reason = read_all(files[OUTPUT], out);
    int code = 0;
    if (reason == ENOENT)
        code = pleat_error_set(err, PLEAT_E_NOTFOUND, "there is no '%s' in PATH", program);
    else if (reason)
        code = pleat_error_sys(err, reason, "cannot run %s", program);
    else if (status != 0)
        code = report(program, files[ERRORS], status, err);
    else if (out->failed)
        code = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the figure");
    close_all(files);
    return code;
}

int pleat_gnuplot_run(const struct pleat_string *script, struct pleat_string *out,
                      struct pleat_error *err)
{
    static const char *const arguments[] = {"gnuplot", "--default-settings", "-", NULL};
    int code = pleat_filter_run(arguments, script, out, err);
    if (code == PLEAT_E_NOTFOUND)
        pleat_error_set(err, code,
                        "figures need gnuplot, which is not installed (no 'gnuplot' in PATH): "
                        "install the package gnuplot-nox");
    return code;
}

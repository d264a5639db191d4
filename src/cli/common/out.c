/* out.c - what is written to stderr, and whether all that was written to stdout arrived. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/cli.h"

void pleat_say(const char *fmt, ...)
{
    char text[1024] = "pleat: ";
    const size_t prefix = strlen(text);
    va_list args;
    va_start(args, fmt);
    vsnprintf(text + prefix, sizeof(text) - prefix - 1, fmt, args);
    va_end(args);
    size_t length = strlen(text);
    for (size_t i = prefix; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 127)
            text[i] = '?';
    text[length++] = '\n';
    fflush(stdout); /* output printed earlier must appear earlier */
    ssize_t written = write(STDERR_FILENO, text, length);
    (void)written; /* a failure cannot be reported anywhere */
}

int pleat_fail(const struct pleat_error *err)
{
    pleat_say("%s", err->text[0] ? err->text : pleat_error_name(err->code));
    return err->code == PLEAT_E_CLOSED ? PLEAT_EXIT_NO_DAEMON : PLEAT_EXIT_FAILED;
}

int pleat_fail_input(const struct pleat_error *err)
{
    int code = pleat_fail(err);
    return err->code == PLEAT_E_NOMEM ? code : PLEAT_EXIT_USAGE;
}

int pleat_finish_output(int code)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    if (errno == EPIPE) /* the reader has closed the pipe: no error */
        return code ? code : PLEAT_EXIT_FAILED;
    pleat_say("cannot write to standard output: %s", errno ? strerror(errno) : "a write failed");
    return code ? code : PLEAT_EXIT_FAILED;
}

#include "agent/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

struct pleat_screen {
    int master;
    int slave; /* held open: otherwise the settings are lost when no process has it open */
    bool of_rank;
};

/* Text is UTF-8: a key that erases takes a whole character away. All else is as usual. */
static int set_characters(int slave)
{
    struct termios settings;
    if (tcgetattr(slave, &settings))
        return errno;
    settings.c_iflag |= IUTF8;
    return tcsetattr(slave, TCSANOW, &settings) ? errno : 0;
}

static int open_pair(struct pleat_screen *screen, char *path, size_t size)
{
    screen->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (screen->master < 0 || grantpt(screen->master) || unlockpt(screen->master) ||
        fcntl(screen->master, F_SETFL, O_NONBLOCK))
        return errno;
    int code = ptsname_r(screen->master, path, size);
    if (code)
        return code;
    screen->slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    return screen->slave < 0 ? errno : set_characters(screen->slave);
}

/* The launcher writes to the terminal as it would to files. */
static int give_to_launcher(struct pleat_run *run, const char *path)
{
    free(run->stdout_path);
    free(run->stderr_path);
    run->stdout_path = strdup(path);
    run->stderr_path = strdup(path);
    return run->stdout_path && run->stderr_path ? 0 : PLEAT_E_NOMEM;
}

static int give_to_process(struct pleat_run *run, const char *path)
{
    free(run->terminal);
    run->terminal = strdup(path);
    return run->terminal ? 0 : PLEAT_E_NOMEM;
}

int pleat_screen_create(struct pleat_run *run, const json_t *window, struct pleat_error *err)
{
    char path[64];
    bool of_rank = false;
    int rc = pleat_get_bool(window, "rank", false, &of_rank, err);
    if (rc)
        return rc;
    struct pleat_screen *screen = calloc(1, sizeof(*screen));
    if (!screen)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    *screen = (struct pleat_screen){.master = -1, .slave = -1, .of_rank = of_rank};
    run->screen = screen;
    int code = open_pair(screen, path, sizeof(path));
    if (code)
        return pleat_error_sys(err, code, "no pseudo-terminal for run %" PRIu64, run->id);
    if (of_rank ? give_to_launcher(run, path) : give_to_process(run, path))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    return pleat_screen_resize(run, window, err);
}

const char *pleat_screen_of_rank(const struct pleat_run *run)
{
    return run->screen && run->screen->of_rank ? run->stdout_path : NULL;
}

void pleat_screen_destroy(struct pleat_run *run)
{
    struct pleat_screen *screen = run->screen;
    if (!screen)
        return;
    run->screen = NULL;
    if (screen->slave >= 0)
        close(screen->slave);
    if (screen->master >= 0)
        close(screen->master);
    free(screen);
}

int pleat_screen_resize(struct pleat_run *run, const json_t *params, struct pleat_error *err)
{
    int64_t rows = 0, columns = 0;
    int rc = pleat_get_int(params, "rows", true, 0, UINT16_MAX, &rows, err);
    if (!rc)
        rc = pleat_get_int(params, "columns", true, 0, UINT16_MAX, &columns, err);
    if (rc)
        return rc;
    if (!run->screen)
        return pleat_error_set(err, PLEAT_E_STATE, "run %" PRIu64 " has no terminal here", run->id);
    const struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
    return ioctl(run->screen->master, TIOCSWINSZ, &size)
               ? pleat_error_sys(err, errno, "the size of the terminal of run %" PRIu64, run->id)
               : 0;
}

int pleat_screen_open(const struct pleat_run *run)
{
    return fcntl(run->screen->master, F_DUPFD_CLOEXEC, 0);
}

#include "command/search.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static bool is_program(const char *path)
{
    struct stat info;
    return access(path, X_OK) == 0 && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

int pleat_program_check(const char *name, struct pleat_error *err)
{
    const char *path = getenv("PATH");
    char whole[PATH_MAX];
    if (strchr(name, '/'))
        return is_program(name) ? 0
                                : pleat_error_set(err, PLEAT_E_NOTFOUND,
                                                  "%.300s: there is no such program", name);
    if (!path)
        path = "/usr/local/bin:/usr/bin:/bin";
    for (const char *at = path; *name; at++) {
        size_t length = strcspn(at, ":");
        if (length &&
            (size_t)snprintf(whole, sizeof(whole), "%.*s/%s", (int)length, at, name) <
                sizeof(whole) &&
            is_program(whole))
            return 0;
        at += length;
        if (!*at)
            break;
    }
    return pleat_error_set(err, PLEAT_E_NOTFOUND,
                           "%.100s: there is no such program in PATH (%.200s)", name, path);
}

/* Whether both are values of the same variable. */
static bool is_same(const char *one, const char *other)
{
    size_t length = strcspn(one, "=");
    return one[length] && !strncmp(one, other, length + 1);
}

char **pleat_environment_with(const char *const *more)
{
    size_t own = 0, added = 0, count = 0;
    while (environ[own])
        own++;
    while (more && more[added])
        added++;
    char **all = calloc(own + added + 1, sizeof(*all));
    if (!all)
        abort();
    for (size_t i = 0; i < own; i++) {
        bool replaced = false;
        for (size_t m = 0; m < added; m++)
            replaced = replaced || is_same(more[m], environ[i]);
        if (!replaced)
            all[count++] = environ[i];
    }
    for (size_t m = 0; m < added; m++)
        all[count++] = (char *)(uintptr_t)more[m];
    return all;
}

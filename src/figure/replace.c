#include "figure/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_plain_or_new(const char *path)
{
    struct stat status;
    return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

static void forget(struct pleat_replacement *replacement)
{
    free(replacement->path);
    free(replacement->fresh);
    *replacement = (struct pleat_replacement){0};
}

/* Finds the name of the file itself, where it exists already, and a pattern for the name of the new
 * file beside it. */
static int find_names(struct pleat_replacement *replacement, const char *path)
{
    char *name = realpath(path, NULL), *fresh = NULL;
    if (!name)
        name = strdup(path);
    if (name && is_plain_or_new(path) && asprintf(&fresh, "%s.XXXXXX", name) < 0) {
        free(name);
        return PLEAT_E_NOMEM;
    }
    replacement->path = name;
    replacement->fresh = fresh;
    return name ? 0 : PLEAT_E_NOMEM;
}

/* The mode of the old file, or that of new files. */
static mode_t mode_for(const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0)
        return status.st_mode & 0777;
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static FILE *open_fresh(const struct pleat_replacement *replacement)
{
    int fd = mkostemp(replacement->fresh, O_CLOEXEC);
    if (fd < 0)
        return NULL;
    FILE *file = fchmod(fd, mode_for(replacement->path)) ? NULL : fdopen(fd, "w");
    if (!file) {
        int reason = errno;
        close(fd);
        unlink(replacement->fresh);
        errno = reason;
    }
    return file;
}

int pleat_replacement_open(struct pleat_replacement *replacement, const char *path,
                           struct pleat_error *err)
{
    *replacement = (struct pleat_replacement){0};
    if (!strcmp(path, "-")) {
        replacement->file = stdout;
        return 0;
    }
    if (find_names(replacement, path)) {
        forget(replacement);
        return pleat_error_set(err, PLEAT_E_NOMEM, "cannot write %s: out of memory", path);
    }
    replacement->file =
        replacement->fresh ? open_fresh(replacement) : fopen(replacement->path, "we");
    if (!replacement->file) {
        int reason = errno;
        forget(replacement);
        return pleat_error_sys(err, reason, "cannot write %s", path);
    }
    return 0;
}

/* Closes the file (standard output is only flushed). Returns 0, or the errno of a write that failed
 * at any time. */
static int close_file(struct pleat_replacement *replacement)
{
    FILE *file = replacement->file;
    errno = 0;
    bool broken = ferror(file) != 0;
    if ((file == stdout ? fflush(file) : fclose(file)) != 0)
        broken = true;
    return !broken ? 0 : errno ? errno : EIO;
}

int pleat_replacement_commit(struct pleat_replacement *replacement, struct pleat_error *err)
{
    int reason = close_file(replacement);
    if (!reason && replacement->fresh && rename(replacement->fresh, replacement->path))
        reason = errno;
    if (reason) {
        const char *path = replacement->path ? replacement->path : "standard output";
        pleat_error_sys(err, reason, "cannot write %s", path);
        if (replacement->fresh)
            unlink(replacement->fresh);
    }
    forget(replacement);
    return reason ? PLEAT_E_SYSTEM : 0;
}

void pleat_replacement_abandon(struct pleat_replacement *replacement)
{
    if (!replacement->file)
        return;
    if (replacement->file != stdout)
        fclose(replacement->file);
    if (replacement->fresh)
        unlink(replacement->fresh);
    forget(replacement);
}

int pleat_replace_text(const char *path, const struct pleat_string *text, struct pleat_error *err)
{
    struct pleat_replacement replacement;
    if (text->failed)
        return pleat_error_set(err, PLEAT_E_NOMEM, "cannot write %s: out of memory", path);
    int rc = pleat_replacement_open(&replacement, path, err);
    if (rc)
        return rc;
    if (text->length > 0)
        fwrite(text->text, 1, text->length, replacement.file); /* commit checks for errors */
    return pleat_replacement_commit(&replacement, err);
}

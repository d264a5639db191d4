/* Files of a job: its input, its output, the copy of its script. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/write.h"
#include "daemon/daemon.h"
#include "daemon/files.h"
#include "daemon/jobs.h"
#include "daemon/specs.h"

void job_output_path(struct daemon *d, int64_t job, const char *stream, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s/jobs/%lld/%s", d->paths.state, (long long)job, stream);
}

int job_directory_make(struct daemon *d, int64_t job, struct pleat_error *err)
{
    char path[600];
    job_output_path(d, job, "", path, sizeof(path));
    path[strlen(path) - 1] = '\0';
    return pleat_paths_make_private(path, err);
}

static const char *user_name(void)
{
    static char name[64];
    const struct passwd *entry = *name ? NULL : getpwuid(getuid());
    if (entry)
        snprintf(name, sizeof(name), "%s", entry->pw_name);
    else if (!*name)
        snprintf(name, sizeof(name), "%u", (unsigned)getuid());
    return name;
}

static const char *pattern_of(const struct pleat_spec *spec, enum job_file which)
{
    return which == JOB_INPUT ? spec->input : which == JOB_OUTPUT ? spec->output : spec->error;
}

bool job_file_is_users(struct daemon *d, int64_t job, enum job_file which)
{
    return pattern_of(job_spec(d, job), which) != NULL;
}

int job_file_path(struct daemon *d, int64_t job, enum job_file which, char *buffer, size_t size,
                  struct pleat_error *err)
{
    const struct pleat_spec *spec = job_spec(d, job);
    const char *pattern = pattern_of(spec, which);
    if (pattern)
        return pleat_spec_path(spec, pattern, job, user_name(), buffer, size, err);
    if (which == JOB_INPUT)
        *buffer = '\0';
    else
        job_output_path(d, job, which == JOB_OUTPUT ? "stdout" : "stderr", buffer, size);
    return 0;
}

/* ---- scripts ---- */

void job_script_path(struct daemon *d, const struct job *job, char *buffer, size_t size)
{
    const struct pleat_spec *spec = job_spec(d, job->id);
    const char *slash = spec->argv ? strrchr(spec->argv[0], '/') : NULL;
    const char *name = slash && slash[1] ? slash + 1 : "script";
    snprintf(buffer, size, "%s/scripts/%lld/%.255s", d->paths.state, (long long)job->id, name);
}

int job_script_make(struct daemon *d, const struct job *job, const char *path,
                    struct pleat_error *err)
{
    char directory[600];
    snprintf(directory, sizeof(directory), "%s/scripts/%lld", d->paths.state, (long long)job->id);
    int rc = pleat_paths_make_private(directory, err);
    if (rc)
        return rc;
    (void)unlink(path); /* a copy of an earlier attempt may still be executed: the new copy gets
                           another inode */
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0700);
    if (fd < 0)
        return pleat_error_sys(err, errno, "cannot write %s", path);
    const char *script = job_spec(d, job->id)->script;
    int code = pleat_write_all(fd, script, strlen(script));
    if (close(fd) && !code)
        code = errno;
    return code ? pleat_error_sys(err, code, "cannot write %s", path) : 0;
}

/* Removes state/scripts/JOB and the files in it. */
static void remove_directory(struct daemon *d, const char *job)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/scripts/%s", d->paths.state, job);
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (entry->d_name[0] != '.')
            (void)unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory)
        closedir(directory);
    if (rmdir(path) && errno != ENOENT)
        daemon_log("cannot remove %s: %s", path, strerror(errno));
}

void job_script_remove(struct daemon *d, int64_t job)
{
    char number[24];
    snprintf(number, sizeof(number), "%lld", (long long)job);
    remove_directory(d, number);
}

void job_scripts_sweep(struct daemon *d)
{
    char path[600];
    snprintf(path, sizeof(path), "%s/scripts", d->paths.state);
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        const struct job *job = job_find(d, strtoll(entry->d_name, NULL, 10));
        if (entry->d_name[0] != '.' && (!job || job->ended))
            remove_directory(d, entry->d_name);
    }
    if (directory)
        closedir(directory);
}

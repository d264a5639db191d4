/* This machine: directories, memory, control groups, limits, the clock. */
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/timefmt.h"
#include "cli/doctor/check.h"

#define MB (1024.0 * 1024.0)
enum { ROOM_MB = 64, FILES_FEW = 1024, PROCESSES_FEW = 200, AHEAD_S = 60 };
#define LONG_AGO 1577836800 /* 2020-01-01: no clock that was set is behind it */

/* ---- the instance's directories ---- */

/* The name of a file system that other machines may use, too; NULL: it is this machine's. */
static const char *network_name(const char *path)
{
    static const struct {
        unsigned long magic;
        const char *name;
    } kinds[] = {{0x6969, "NFS"},           {0xFF534D42, "CIFS"},   {0xFE534D42, "SMB"},
                 {0x0BD00BD0, "Lustre"},    {0x47504653, "GPFS"},   {0x00C36400, "Ceph"},
                 {0x5346414F, "AFS"},       {0x19830326, "BeeGFS"}, {0x01021997, "9p"},
                 {0x013111A8, "GlusterFS"}, {0x65735546, "FUSE"}};
    struct statfs st;
    if (statfs(path, &st))
        return NULL;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (((unsigned long)st.f_type & 0xFFFFFFFF) == kinds[i].magic)
            return kinds[i].name;
    return NULL;
}

/* Cuts the path to that of the nearest directory that exists. */
static void nearest(char *path)
{
    struct stat st;
    while (stat(path, &st) && errno == ENOENT) {
        char *slash = strrchr(path, '/');
        if (!slash || slash == path) {
            strcpy(path, "/");
            return;
        }
        *slash = '\0';
    }
}

static bool is_private(struct doctor *doctor, const char *subject, const char *path)
{
    struct stat st;
    if (stat(path, &st)) {
        doctor_tell(doctor, DOCTOR_FAILED, subject, "set PLEAT_DIR to a directory of your own",
                    "%s cannot be looked at: %s", path, strerror(errno));
        return false;
    }
    if (st.st_uid != geteuid() || !S_ISDIR(st.st_mode)) {
        doctor_tell(doctor, DOCTOR_FAILED, subject, "set PLEAT_DIR to a directory of your own",
                    "%s is %s", path, S_ISDIR(st.st_mode) ? "another user's" : "not a directory");
        return false;
    }
    if (st.st_mode & (S_IWGRP | S_IWOTH)) {
        doctor_tell(doctor, DOCTOR_FAILED, subject, "chmod go-w it, or set PLEAT_DIR",
                    "others can write to %s", path);
        return false;
    }
    return true;
}

static void look_at_directory(struct doctor *doctor, const char *subject, const char *path)
{
    char there[512];
    struct statvfs st;
    snprintf(there, sizeof(there), "%s", path);
    nearest(there);
    bool exists = !strcmp(there, path);
    const char *network = network_name(there);
    if (exists && !is_private(doctor, subject, path))
        return;
    if (access(there, W_OK | X_OK))
        doctor_tell(doctor, DOCTOR_FAILED, subject, "set PLEAT_DIR to a directory of your own",
                    "nothing can be written in %s: %s", there, strerror(errno));
    else if (statvfs(there, &st) == 0 && (double)st.f_bavail * (double)st.f_frsize < ROOM_MB * MB)
        doctor_tell(doctor, DOCTOR_WARNING, subject, "make room there: 'pleat clean', for example",
                    "%s has only %.0f MB of room", there,
                    (double)st.f_bavail * (double)st.f_frsize / MB);
    else if (network)
        doctor_tell(
            doctor, DOCTOR_WARNING, subject,
            "set PLEAT_DIR (or XDG_STATE_HOME) to a directory on a local disk",
            "%s is on a network file system (%s): its log is slow, and serves one machine at "
            "a time",
            there, network);
    else
        doctor_tell(doctor, DOCTOR_OK, subject, NULL, "%s %s", path,
                    exists ? "is yours, local, and can be written" : "will be made when needed");
}

void doctor_directory(struct doctor *doctor)
{
    if (doctor->paths_wrong.code) {
        doctor_tell(doctor, DOCTOR_FAILED, NULL, "set PLEAT_DIR to a short path", "%s",
                    doctor->paths_wrong.text);
        return;
    }
    look_at_directory(doctor, "state", doctor->paths.state);
    if (strcmp(doctor->paths.state, doctor->paths.runtime))
        look_at_directory(doctor, "runtime", doctor->paths.runtime);
    doctor_tell(doctor, DOCTOR_OK, "socket", NULL, "%s has %zu bytes of at most 103",
                doctor->paths.socket, strlen(doctor->paths.socket));
}

/* ---- memory ---- */

void doctor_memory(struct doctor *doctor)
{
    struct statvfs st;
    int file = memfd_create("pleat-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0 || ftruncate(file, 4096) || pwrite(file, "x", 1, 0) != 1)
        doctor_tell(doctor, DOCTOR_FAILED, "files", "ask whoever runs this machine (memfd_create)",
                    "no file in memory can be made, which malleable programs need: %s",
                    strerror(errno));
    else
        doctor_tell(doctor, DOCTOR_OK, "files", NULL, "files in memory can be made");
    if (file >= 0)
        close(file);
    if (statvfs("/dev/shm", &st) || access("/dev/shm", W_OK | X_OK)) {
        doctor_tell(doctor, DOCTOR_FAILED, "/dev/shm", "have it mounted (tmpfs, mode 1777)",
                    "/dev/shm cannot be used: %s", strerror(errno));
        return;
    }
    double room_mb = (double)st.f_bavail * (double)st.f_frsize / MB;
    bool few = room_mb < ROOM_MB;
    doctor_tell(doctor, few ? DOCTOR_WARNING : DOCTOR_OK, "/dev/shm",
                few ? "remove what is not needed there, or have it made larger" : NULL,
                "/dev/shm has %.0f MB of room, through which ranks talk to each other", room_mb);
}

/* ---- control groups ---- */

static void tell_group(struct doctor *doctor, const char *subject, const json_t *place,
                       const char *with, const char *without)
{
    if (json_is_string(place))
        doctor_tell(doctor, DOCTOR_OK, subject, NULL, "%s: groups can be made in %s", with,
                    json_string_value(place));
    else
        doctor_tell(doctor, DOCTOR_UNCHECKED, subject,
                    "nothing must be done; if you want them, have the controller delegated "
                    "(systemd: Delegate=yes)",
                    "this user may make no such groups: %s", without);
}

void doctor_groups(struct doctor *doctor)
{
    json_t *seen = doctor_look_by_agent(doctor);
    if (!seen)
        return;
    tell_group(doctor, "cpuset", json_object_get(seen, "cpusets"), "jobs cannot leave their CPUs",
               "jobs are bound to their CPUs, but could leave them");
    tell_group(doctor, "memory", json_object_get(seen, "memory_groups"),
               "the kernel enforces limits of memory",
               "limits of memory are enforced by measuring");
    json_decref(seen);
}

/* ---- limits ---- */

static const char *limit_text(rlim_t value, char *text, size_t size)
{
    snprintf(text, size, "%llu", (unsigned long long)value);
    return value == RLIM_INFINITY ? "no limit" : text;
}

/* How many threads this user has, of which RLIMIT_NPROC is a limit. */
static long threads_of_user(void)
{
    DIR *processes = opendir("/proc");
    long count = 0;
    for (struct dirent *entry; processes && (entry = readdir(processes));) {
        char path[80];
        struct stat st;
        snprintf(path, sizeof(path), "/proc/%.20s/task", entry->d_name);
        if (*entry->d_name < '0' || *entry->d_name > '9' || stat(path, &st) ||
            st.st_uid != getuid())
            continue;
        count += st.st_nlink > 2 ? (long)st.st_nlink - 2 : 1;
    }
    if (processes)
        closedir(processes);
    return count;
}

void doctor_limits(struct doctor *doctor)
{
    struct rlimit files = {0}, processes = {0}, locked = {0};
    char text[32];
    (void)getrlimit(RLIMIT_NOFILE, &files);
    (void)getrlimit(RLIMIT_NPROC, &processes);
    (void)getrlimit(RLIMIT_MEMLOCK, &locked);
    bool few = files.rlim_max < FILES_FEW;
    doctor_tell(doctor, few ? DOCTOR_WARNING : DOCTOR_OK, "nofile",
                few ? "have the hard limit raised (ulimit -Hn, limits.conf)" : NULL,
                "a process may have %s open files (the hard limit)",
                limit_text(files.rlim_max, text, sizeof(text)));
    long used = threads_of_user();
    bool free = processes.rlim_cur == RLIM_INFINITY || geteuid() == 0;
    few = !free && processes.rlim_cur < (rlim_t)used + PROCESSES_FEW;
    doctor_tell(doctor, few ? DOCTOR_WARNING : DOCTOR_OK, "nproc",
                few ? "have the limit raised (ulimit -u, limits.conf), or end what is not needed"
                    : NULL,
                "this user has %ld processes and threads; the limit is %s", used,
                free ? "none" : limit_text(processes.rlim_cur, text, sizeof(text)));
    doctor_tell(doctor, DOCTOR_OK, "memlock", NULL,
                "%s bytes may be locked, which matters only to networks such as InfiniBand",
                limit_text(locked.rlim_cur, text, sizeof(text)));
}

/* ---- the clock ---- */

void doctor_clock(struct doctor *doctor)
{
    char path[600], moment[PLEAT_TIME_SIZE];
    struct stat st;
    time_t now = time(NULL);
    snprintf(path, sizeof(path), "%s/log.sqlite", doctor->paths.state);
    pleat_time_moment((double)now, moment);
    if (now < LONG_AGO)
        doctor_tell(doctor, DOCTOR_FAILED, NULL, "set the clock, and have it kept (NTP)",
                    "the clock says %s: it was never set", moment);
    else if (!doctor->paths_wrong.code && stat(path, &st) == 0 && st.st_mtime > now + AHEAD_S)
        doctor_tell(doctor, DOCTOR_WARNING, NULL, "set the clock, and have it kept (NTP)",
                    "the clock says %s, but the log was written %ld s after that", moment,
                    (long)(st.st_mtime - now));
    else
        doctor_tell(doctor, DOCTOR_OK, NULL, NULL, "the clock says %s", moment);
}

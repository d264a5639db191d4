#include "agent/shared_files.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/log.h"

/* Further files are removed by a later sweep. */
#define FILES_MAX 256

struct file {
    char name[64];
    dev_t device;
    ino_t inode;
    bool used;
};

struct files {
    struct file items[FILES_MAX];
    uint32_t count;
};

static bool is_of_mpi(const char *name)
{
    static const char *const prefixes[] = {"mpich_", "ucx_shm_posix_", "open_mpi."};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
        if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
            return true;
    return false;
}

static void find_files(DIR *directory, int64_t since_s, struct files *files)
{
    for (struct dirent *entry; files->count < FILES_MAX && (entry = readdir(directory));) {
        struct file *file = &files->items[files->count];
        struct stat st;
        if (!is_of_mpi(entry->d_name) || strlen(entry->d_name) >= sizeof(file->name) ||
            fstatat(dirfd(directory), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
            !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mtim.tv_sec < since_s)
            continue;
        *file = (struct file){.device = st.st_dev, .inode = st.st_ino};
        memcpy(file->name, entry->d_name, strlen(entry->d_name) + 1);
        files->count++;
    }
}

/* A line of maps, proc(5): "start-end perms offset dev inode    path". */
static void note_mapped(FILE *maps, struct files *files)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, maps) > 0) {
        const char *slash = strrchr(line, '/');
        for (uint32_t i = 0; slash && i < files->count; i++) {
            struct file *file = &files->items[i];
            size_t length = strlen(file->name);
            if (!strncmp(slash + 1, file->name, length) &&
                isspace((unsigned char)slash[1 + length]))
                file->used = true;
        }
    }
    free(line);
}

static void note_open(DIR *descriptors, struct files *files)
{
    for (struct dirent *entry; (entry = readdir(descriptors));) {
        struct stat st;
        if (fstatat(dirfd(descriptors), entry->d_name, &st, 0))
            continue;
        for (uint32_t i = 0; i < files->count; i++)
            if (files->items[i].inode == st.st_ino && files->items[i].device == st.st_dev)
                files->items[i].used = true;
    }
}

/* Marks the files that a process has open or mapped. A process that this user may not look into is
 * no MPI process of this user.
 *
 * The two are not seen at one moment, so the descriptors come first: MPI opens such a file, maps it
 * and closes the descriptor, never the other way round, so what is closed by then is in the maps.
 * What must hold: no process opens one of these files again, to let its mapping go before the maps
 * are read, and none that was looked into takes one over from another process, which lets it go
 * before it is looked into. Those of MPI do neither: each opens a file while the one that made it,
 * and that keeps it, waits. */
static void look_into(const char *pid, struct files *files)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
    DIR *descriptors = opendir(path);
    if (descriptors) {
        note_open(descriptors, files);
        closedir(descriptors);
    }
    snprintf(path, sizeof(path), "/proc/%.20s/maps", pid);
    FILE *maps = fopen(path, "re");
    if (maps) {
        note_mapped(maps, files);
        fclose(maps);
    }
}

static bool find_holders(struct files *files)
{
    DIR *processes = opendir("/proc");
    if (!processes)
        return false;
    for (struct dirent *entry; (entry = readdir(processes));)
        if (isdigit((unsigned char)*entry->d_name))
            look_into(entry->d_name, files);
    closedir(processes);
    return true;
}

/* Finds the files that no process can use any more, and removes them if `remove` says so. Returns
 * how many there are, or how many were removed. */
static uint32_t look(const char *folder, int64_t since_s, bool remove)
{
    struct files *files = calloc(1, sizeof(*files));
    DIR *directory = opendir(folder);
    uint32_t found = 0;
    if (files && directory) {
        int at = dirfd(directory);
        find_files(directory, since_s, files);
        bool known = files->count && find_holders(files);
        for (uint32_t i = 0; known && i < files->count; i++)
            if (!files->items[i].used && (!remove || !unlinkat(at, files->items[i].name, 0)))
                found++;
    }
    if (directory)
        closedir(directory);
    free(files);
    return found;
}

uint32_t pleat_shared_files_sweep(const char *folder, int64_t since_s)
{
    uint32_t removed = look(folder, since_s, true);
    if (removed)
        pleat_log("removed %u files in %s that killed MPI processes had left", removed, folder);
    return removed;
}

uint32_t pleat_shared_files_left(const char *folder)
{
    return look(folder, 0, false);
}

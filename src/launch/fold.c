#include "launch/fold.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "launch/launcher.h"
#include "launch/library.h"

/* ---- finding the library ---- */

int pleat_launch_fold_library(enum pleat_mpi mpi, char *path, size_t size, struct pleat_error *err)
{
    char file[64];
    if (mpi == PLEAT_MPI_NONE)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED, "only an MPI program can be folded");
    snprintf(file, sizeof(file), "libpleat-fold-%s.so", pleat_mpi_name(mpi));
    int rc = pleat_launch_library(file, path, size, err);
    return rc == PLEAT_E_NOTFOUND
               ? pleat_error_set(err, rc,
                                 "there is no %s where Pleat's libraries are: this Pleat was built "
                                 "or installed without folding for that MPI",
                                 file)
               : rc;
}

/* ---- programs that it can be preloaded into ---- */

/* Opens an ELF file; NULL: it is none, or cannot be read. */
static Elf *open_elf(const char *path, int *fd)
{
    struct stat about;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    Elf *elf = NULL;
    if (*fd >= 0 && fstat(*fd, &about) == 0 && S_ISREG(about.st_mode) &&
        elf_version(EV_CURRENT) != EV_NONE)
        elf = elf_begin(*fd, ELF_C_READ, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF)
        return elf;
    elf_end(elf);
    if (*fd >= 0)
        close(*fd);
    return NULL;
}

/* Whether the program names a dynamic loader, which then starts it. */
static bool has_loader(Elf *elf)
{
    size_t count = 0;
    GElf_Phdr header;
    if (elf_getphdrnum(elf, &count))
        return true; /* damaged: that shows when it is run */
    for (size_t i = 0; i < count && i < INT32_MAX; i++)
        if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_INTERP)
            return true;
    return false;
}

int pleat_launch_fold_check(const char *path, struct pleat_error *err)
{
    struct stat about;
    int fd;
    if (stat(path, &about) == 0 && (((about.st_mode & S_ISUID) && about.st_uid != geteuid()) ||
                                    ((about.st_mode & S_ISGID) && about.st_gid != getegid())))
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "'%s' runs as another user or group (set-uid, set-gid): nothing is "
                               "preloaded into such a program, so it cannot be folded",
                               path);
    if (getxattr(path, "security.capability", NULL, 0) > 0)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "'%s' has capabilities of its own (getcap): nothing is preloaded "
                               "into such a program, so it cannot be folded",
                               path);
    Elf *elf = open_elf(path, &fd);
    if (!elf)
        return 0;
    bool loaded = has_loader(elf);
    elf_end(elf);
    close(fd);
    return loaded ? 0
                  : pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                                    "'%s' is linked statically: nothing can be preloaded into it, "
                                    "so it cannot be folded; link it dynamically",
                                    path);
}

/* ---- other preloaded libraries ---- */

static bool is_taken_over(const char *name)
{
    return !strncmp(name, "MPI_", 4) || !strncmp(name, "PMPI_", 5) || !strncmp(name, "mpi_", 4) ||
           !strncmp(name, "pmpi_", 5) || !strcmp(name, "sched_yield") ||
           !strcmp(name, "ucp_worker_progress");
}

/* The first function that the file defines and that folding must take over; NULL: none. */
static const char *find_taken_over(Elf *elf)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        GElf_Sym symbol;
        Elf_Data *data = NULL;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM)
            continue;
        while ((data = elf_getdata(section, data)) != NULL) {
            for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
                const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
                if (name && symbol.st_shndx != SHN_UNDEF && is_taken_over(name))
                    return name;
            }
        }
    }
    return NULL;
}

static int check_library(const char *path, struct pleat_error *err)
{
    int fd, rc = 0;
    Elf *elf = open_elf(path, &fd);
    if (!elf)
        return 0;
    const char *name = find_taken_over(elf);
    if (name)
        rc = pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                             "LD_PRELOAD has '%s', which takes over %s, as folding does: both "
                             "together are not known to work",
                             path, name);
    elf_end(elf);
    close(fd);
    return rc;
}

int pleat_launch_fold_check_preload(const char *const *env, struct pleat_error *err)
{
    const char *at = pleat_launch_env(env, "LD_PRELOAD");
    for (; at && *at; at += strspn(at, ": ")) {
        size_t length = strcspn(at, ": ");
        char path[PATH_MAX];
        snprintf(path, sizeof(path), "%.*s", (int)length, at);
        at += length;
        int rc = length > 0 && length < sizeof(path) ? check_library(path, err) : 0;
        if (rc)
            return rc;
    }
    return 0;
}

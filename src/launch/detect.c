#include "launch/detect.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <paths.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Which MPI a library belongs to; the first matching row counts. Open MPI 2 to 5 is libmpi.so.20 or
 * .40; libmpi.so.12 is the ABI shared by MPICH built outside Debian, MVAPICH2 and Intel MPI. */
static const struct {
    const char *prefix;
    enum pleat_mpi mpi;
    bool malleable;
} libraries[] = {
    {"libpleat-openmpi.so", PLEAT_MPI_OPENMPI, true}, {"libpleat-mpich.so", PLEAT_MPI_MPICH, true},
    {"libmpich.so", PLEAT_MPI_MPICH, false},          {"libmpichcxx.so", PLEAT_MPI_MPICH, false},
    {"libmpichfort.so", PLEAT_MPI_MPICH, false},      {"libmpi.so.12", PLEAT_MPI_MPICH, false},
    {"libmpifort.so.12", PLEAT_MPI_MPICH, false},     {"libmpi.so", PLEAT_MPI_OPENMPI, false},
    {"libmpi_cxx.so", PLEAT_MPI_OPENMPI, false},      {"libmpi_mpifh.so", PLEAT_MPI_OPENMPI, false},
    {"libmpi_usempi", PLEAT_MPI_OPENMPI, false},
};

struct scan {
    struct pleat_launch_detected found;
    char first[64];  /* the first library that belongs to an MPI */
    char second[64]; /* a library of another MPI; empty: none */
};

/* After "libmpi.so" there must be a version or nothing, after "libmpi.so.12" more of the version.
 */
static bool matches(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0)
        return false;
    return name[length] == '\0' || name[length] == '.' || !strstr(prefix, ".so");
}

static void note_library(struct scan *scan, const char *name)
{
    for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
        if (!matches(name, libraries[i].prefix))
            continue;
        if (scan->found.mpi == PLEAT_MPI_NONE)
            snprintf(scan->first, sizeof(scan->first), "%s", name);
        else if (scan->found.mpi != libraries[i].mpi)
            snprintf(scan->second, sizeof(scan->second), "%s", name);
        scan->found.mpi = libraries[i].mpi;
        scan->found.malleable = scan->found.malleable || libraries[i].malleable;
        return;
    }
}

/* Notes the libraries named in a dynamic section. libelf checks offsets and sizes against the file,
 * and strings against their table. */
static void scan_dynamic(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, struct scan *scan)
{
    Elf_Data *data = NULL;
    while ((data = elf_getdata(section, data)) != NULL) {
        GElf_Dyn entry;
        for (int i = 0; gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
            if (entry.d_tag != DT_NEEDED)
                continue;
            const char *name = elf_strptr(elf, header->sh_link, entry.d_un.d_val);
            if (name)
                note_library(scan, name);
        }
    }
}

static void scan_elf(Elf *elf, struct scan *scan)
{
    if (elf_kind(elf) != ELF_K_ELF)
        return;
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNAMIC)
            scan_dynamic(elf, section, &header, scan);
    }
}

int pleat_launch_detect(const char *path, struct pleat_launch_detected *detected,
                        struct pleat_error *err)
{
    memset(detected, 0, sizeof(*detected));
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        int code = errno;
        (void)pleat_error_sys(err, code, "cannot read program '%s'", path);
        if (code != ENOENT && code != ENOTDIR)
            return PLEAT_E_SYSTEM;
        if (err)
            err->code = PLEAT_E_NOTFOUND;
        return PLEAT_E_NOTFOUND;
    }
    struct stat status;
    struct scan scan = {0};
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && elf_version(EV_CURRENT) != EV_NONE) {
        Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
        if (elf) {
            scan_elf(elf, &scan);
            elf_end(elf);
        }
    }
    close(fd);
    if (scan.second[0])
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "program '%s' is linked with both %s and %s, of different MPIs: "
                               "link it with one",
                               path, scan.first, scan.second);
    *detected = scan.found;
    return 0;
}

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static int write_path(char *buffer, size_t size, const char *directory, size_t length,
                      const char *program, struct pleat_error *err)
{
    int used =
        snprintf(buffer, size, "%.*s%s%s", (int)length, directory, length ? "/" : "", program);
    if (used < 0 || (size_t)used >= size)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "the path of program '%.80s' is too long",
                               program);
    return 0;
}

int pleat_launch_find(const char *program, const char *search, const char *cwd, char *buffer,
                      size_t size, struct pleat_error *err)
{
    if (!*program)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "the program's name is empty");
    if (strchr(program, '/')) {
        bool absolute = *program == '/' || !cwd;
        int result =
            write_path(buffer, size, absolute ? "" : cwd, absolute ? 0 : strlen(cwd), program, err);
        if (result == 0 && !is_program(buffer))
            return pleat_error_set(err, PLEAT_E_NOTFOUND, "'%s' is no executable file", buffer);
        return result;
    }
    for (const char *part = search ? search : _PATH_DEFPATH;; part++) {
        size_t length = strcspn(part, ":");
        /* an empty part is the current directory; a part with which the path is too long is skipped
         */
        const char *directory = length ? part : (cwd ? cwd : ".");
        size_t directory_length = length ? length : strlen(directory);
        if (!write_path(buffer, size, directory, directory_length, program, NULL) &&
            is_program(buffer))
            return 0;
        part += length;
        if (!*part)
            break;
    }
    return pleat_error_set(err, PLEAT_E_NOTFOUND, "no program '%s' in PATH", program);
}

/* The MPI calls of a resize; MPI's errors become pleat_error. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/session.h"

int pleat_mpi_check(int result, const char *what, struct pleat_error *err)
{
    if (result == MPI_SUCCESS)
        return 0;
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    if (MPI_Error_string(result, text, &length) != MPI_SUCCESS)
        snprintf(text, sizeof(text), "MPI error %d", result);
    return pleat_error_set(err, PLEAT_E_MPI, "%s: %s", what, text);
}

int pleat_mpi_quiet_begin(MPI_Comm comm, MPI_Errhandler *before, struct pleat_error *err)
{
    *before = MPI_ERRHANDLER_NULL;
    int code = pleat_mpi_check(MPI_Comm_get_errhandler(comm, before), "preparing", err);
    if (!code)
        code = pleat_mpi_check(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "preparing", err);
    return code;
}

void pleat_mpi_quiet_end(MPI_Comm comm, MPI_Errhandler *before)
{
    if (*before == MPI_ERRHANDLER_NULL)
        return;
    if (comm != MPI_COMM_NULL)
        (void)MPI_Comm_set_errhandler(comm, *before);
    MPI_Errhandler_free(before);
}

bool pleat_mpi_spawns(void)
{
    /* With Debian's MPICH (ch4:ucx) MPI_Comm_spawn ends the program. */
    return PLEAT_MPI_KIND == 1;
}

int pleat_mpi_agree(MPI_Comm comm, int code, int *agreed, struct pleat_error *err)
{
    return pleat_mpi_check(MPI_Allreduce(&code, agreed, 1, MPI_INT, MPI_MIN, comm),
                           "agreeing on the outcome of a resize", err);
}

int pleat_mpi_same(MPI_Comm comm, uint64_t hash, bool excused, bool *same, struct pleat_error *err)
{
    const uint64_t mine[2] = {excused ? UINT64_MAX : hash, excused ? UINT64_MAX : ~hash};
    uint64_t least[2] = {0, 0};
    int code = pleat_mpi_check(MPI_Allreduce(mine, least, 2, MPI_UINT64_T, MPI_MIN, comm),
                               "comparing what the ranks have registered", err);
    *same = least[0] == ~least[1];
    return code;
}

int pleat_mpi_agree_on(MPI_Comm comm, int code, uint64_t hash, int *agreed, struct pleat_error *err)
{
    bool same = true;
    int failed = pleat_mpi_agree(comm, code, agreed, err);
    if (!failed && !*agreed)
        failed = pleat_mpi_same(comm, hash, false, &same, err);
    if (!failed && !same)
        *agreed = pleat_error_set(err, PLEAT_E_INVALID,
                                  "the ranks have chosen different process grids for an array");
    return failed;
}

/* What to spawn: this process's own program, arguments and directory. */
struct command {
    char program[PATH_MAX];
    char directory[PATH_MAX];
    char *arguments; /* the text of /proc/self/cmdline */
    char **argv;     /* pointers into `arguments`, without the program's name, NULL at the end */
};

static void command_finish(struct command *command)
{
    free(command->arguments);
    free(command->argv);
    command->arguments = NULL;
    command->argv = NULL;
}

static int read_arguments(struct command *command, size_t *used, struct pleat_error *err)
{
    FILE *file = fopen("/proc/self/cmdline", "re");
    if (!file)
        return pleat_error_sys(err, errno, "cannot read /proc/self/cmdline");
    size_t room = 0;
    int code = 0;
    for (;;) {
        if (*used + 1 >= room) {
            room = room ? 2 * room : 4096;
            char *more = realloc(command->arguments, room);
            if (!more) {
                code = pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the arguments");
                break;
            }
            command->arguments = more;
        }
        size_t got = fread(command->arguments + *used, 1, room - *used - 1, file);
        if (!got)
            break;
        *used += got;
    }
    fclose(file);
    if (!code)
        command->arguments[*used] = '\0';
    return code;
}

static int split_arguments(struct command *command, size_t used, struct pleat_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < used; i++)
        count += command->arguments[i] == '\0';
    command->argv = calloc(count + 1, sizeof(*command->argv));
    if (!command->argv)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the arguments");
    size_t n = 0;
    size_t at = strlen(command->arguments) + 1;
    for (; at < used && n < count; at += strlen(command->arguments + at) + 1)
        command->argv[n++] = command->arguments + at;
    return 0;
}

/* Whether there is this process's own program at `path`. */
static bool is_own_program(const char *path)
{
    struct stat own;
    struct stat there;
    return stat("/proc/self/exe", &own) == 0 && stat(path, &there) == 0 &&
           own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

/* An interpreter may go by the name by which it was started: that of a virtual environment of
 * Python is a link. If `name` leads to this process's program, it is what is started. */
static void prefer_own_name(struct command *command, const char *name)
{
    char path[PATH_MAX];
    const char *search = strchr(name, '/') ? "" : getenv("PATH");
    while (search && *name) {
        const size_t length = strcspn(search, ":");
        const int used = *name == '/' ? snprintf(path, sizeof(path), "%s", name)
                         : length && *search == '/'
                             ? snprintf(path, sizeof(path), "%.*s/%s", (int)length, search, name)
                             : snprintf(path, sizeof(path), "%s/%.*s%s%s", command->directory,
                                        (int)length, search, length ? "/" : "", name);
        if (used > 0 && (size_t)used < sizeof(path) && is_own_program(path)) {
            memcpy(command->program, path, (size_t)used + 1);
            return;
        }
        search = search[length] ? search + length + 1 : NULL;
    }
}

static int command_init(struct command *command, struct pleat_error *err)
{
    memset(command, 0, sizeof(*command));
    ssize_t length = readlink("/proc/self/exe", command->program, sizeof(command->program) - 1);
    if (length < 0)
        return pleat_error_sys(err, errno, "cannot read /proc/self/exe");
    if (access(command->program, X_OK))
        return pleat_error_sys(err, errno,
                               "cannot start more ranks of %s (was it replaced while it runs?)",
                               command->program);
    if (!getcwd(command->directory, sizeof(command->directory)))
        return pleat_error_sys(err, errno, "cannot find the working directory");
    size_t used = 0;
    int code = read_arguments(command, &used, err);
    if (!code && used)
        prefer_own_name(command, command->arguments);
    if (!code)
        code = split_arguments(command, used, err);
    return code;
}

/* Looks for the one likely reason why a spawn fails, too few slots. Open MPI up to 4.1 tells only
 * the root of a failed spawn, and the other ranks wait for ever. */
static int check_room(MPI_Comm comm, int count, struct pleat_error *err)
{
    const char *oversubscribe = getenv("OMPI_MCA_rmaps_base_oversubscribe");
    int size = 0;
    int known = 0;
    int *slots = NULL;
    int code = pleat_mpi_check(MPI_Comm_size(comm, &size), "finding the size", err);
    if (!code)
        code = pleat_mpi_check(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &slots, &known),
                               "finding the number of slots", err);
    if (code || !known || (oversubscribe && !strcmp(oversubscribe, "1")))
        return code;
    if (size + count > *slots)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "mpirun has %d slots, %d ranks do not fit: start it with "
                               "--oversubscribe or with more slots",
                               *slots, size + count);
    return 0;
}

static int spawn(struct command *command, MPI_Comm comm, int rank, int count, MPI_Comm *children,
                 struct pleat_error *err)
{
    MPI_Info info = MPI_INFO_NULL;
    if (rank == 0 && MPI_Info_create(&info) == MPI_SUCCESS)
        (void)MPI_Info_set(info, "wdir", command->directory);
    /* MPI uses only the root's command, arguments and info. */
    int result = MPI_Comm_spawn(rank == 0 ? command->program : "", rank == 0 ? command->argv : NULL,
                                count, info, 0, comm, children, MPI_ERRCODES_IGNORE);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    char what[64];
    snprintf(what, sizeof(what), "starting %d more ranks", count);
    return pleat_mpi_check(result, what, err);
}

int pleat_mpi_spawn(MPI_Comm comm, int rank, int count, MPI_Comm *children, bool *refused,
                    struct pleat_error *err)
{
    struct command command = {0};
    int code = 0;
    if (rank == 0)
        code = command_init(&command, err);
    if (rank == 0 && !code)
        code = check_room(comm, count, err);
    int all = code;
    int failed = pleat_mpi_check(MPI_Bcast(&all, 1, MPI_INT, 0, comm), "preparing to spawn", err);
    *refused = !failed && all;
    if (!failed && all && rank != 0)
        code = pleat_error_set(err, all, "rank 0 could not prepare to start more ranks");
    if (!failed && !code)
        code = spawn(&command, comm, rank, count, children, err);
    command_finish(&command);
    return failed ? failed : code;
}

int pleat_mpi_merge(MPI_Comm *inter, bool joiner, MPI_Comm *merged, struct pleat_error *err)
{
    int code = pleat_mpi_check(MPI_Comm_set_errhandler(*inter, MPI_ERRORS_RETURN),
                               "merging old and new ranks", err);
    if (!code)
        code = pleat_mpi_check(MPI_Intercomm_merge(*inter, joiner ? 1 : 0, merged),
                               "merging old and new ranks", err);
    if (code)
        return code;
    /* Both sides release the intercommunicator. A merged communicator must not be disconnected. */
    code = pleat_mpi_check(MPI_Comm_disconnect(inter), "releasing the intercommunicator", err);
    if (!code)
        code = pleat_mpi_check(MPI_Comm_set_errhandler(*merged, MPI_ERRORS_RETURN),
                               "preparing the merged communicator", err);
    return code;
}

int pleat_mpi_share_error(MPI_Comm comm, struct pleat_error *error, struct pleat_error *err)
{
    int rank = 0;
    int size = 0;
    int whose = 0;
    int failed = pleat_mpi_check(MPI_Comm_rank(comm, &rank), "comparing", err);
    if (!failed)
        failed = pleat_mpi_check(MPI_Comm_size(comm, &size), "comparing", err);
    int mine = error->code ? rank : size;
    if (!failed)
        failed = pleat_mpi_check(MPI_Allreduce(&mine, &whose, 1, MPI_INT, MPI_MIN, comm),
                                 "comparing", err);
    if (failed || whose == size)
        return failed;
    return pleat_mpi_check(MPI_Bcast(error, (int)sizeof(*error), MPI_BYTE, whose, comm),
                           "comparing", err);
}

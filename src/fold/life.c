/* life.c - from MPI_Init to MPI_Finalize: whether and when a process is folded. */
#include "fold/life.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fold/calls.h"
#include "fold/hint.h"
#include "fold/peer.h"
#include "fold/real.h"
#include "fold/which.h"
#include "shm/fold.h"

#define VERBOSE_ENV "PLEAT_FOLD_VERBOSE"

/* Whether the process is folded now. */
static bool begun;

static void say(const char *what)
{
    if (getenv(VERBOSE_ENV))
        fprintf(stderr, "pleat-fold for %s: %s\n", fold_mpi_name, what);
}

static bool wanted(void)
{
    const char *path = getenv(PLEAT_FOLD_ENV);
    return path && *path;
}

/* ---- the MPI ---- */

static bool find_function(void *function, const char *name)
{
    void *found = fold_real_symbol(name);
    memcpy(function, &found, sizeof(found));
    return found;
}

static bool find_functions(void)
{
    return find_function(&fold_mpi.comm_rank, "PMPI_Comm_rank") &&
           find_function(&fold_mpi.query_thread, "PMPI_Query_thread") &&
           find_function(&fold_mpi.comm_size, "PMPI_Comm_size") &&
           find_function(&fold_mpi.comm_test_inter, "PMPI_Comm_test_inter") &&
           find_function(&fold_mpi.comm_group, "PMPI_Comm_group") &&
           find_function(&fold_mpi.comm_remote_group, "PMPI_Comm_remote_group") &&
           find_function(&fold_mpi.comm_get_parent, "PMPI_Comm_get_parent") &&
           find_function(&fold_mpi.group_size, "PMPI_Group_size") &&
           find_function(&fold_mpi.group_translate_ranks, "PMPI_Group_translate_ranks") &&
           find_function(&fold_mpi.group_free, "PMPI_Group_free") && fold_mpi_find_handles();
}

/* Whether the program's MPI is the one that this object was built for. The function that is asked
 * has the same form in all MPIs. */
static bool mpi_is_right(void)
{
    static char text[MPI_MAX_LIBRARY_VERSION_STRING + 8192];
    int length = 0;
    if (!find_function(&fold_mpi.get_library_version, "PMPI_Get_library_version") ||
        fold_mpi.get_library_version(text, &length)) {
        say("not folded: the program's MPI does not say what it is");
        return false;
    }
    if (strncmp(text, fold_mpi_name, strlen(fold_mpi_name)) != 0) {
        text[strcspn(text, "\n")] = 0;
        if (getenv(VERBOSE_ENV))
            fprintf(stderr, "pleat-fold for %s: not folded: the program uses %.80s\n",
                    fold_mpi_name, text);
        return false;
    }
    if (!find_functions()) {
        say("not folded: functions of its MPI are missing");
        return false;
    }
    return true;
}

/* ---- the process ---- */

static int32_t number_in(const char *name)
{
    const char *text = getenv(name);
    char *end = NULL;
    long number = text ? strtol(text, &end, 10) : -1;
    return text && end != text && !*end && number >= 0 && number < PLEAT_FOLD_PROCESSES_MAX
               ? (int32_t)number
               : TURN_NOBODY;
}

static int32_t local_rank(void)
{
    int32_t found = TURN_NOBODY;
    for (const char *const *name = fold_local_rank_variables; *name && found == TURN_NOBODY; name++)
        found = number_in(*name);
    return found;
}

/* In a forked child: the child is no process of the program, and the place stays its parent's. */
static void forked(void)
{
    if (!begun)
        return;
    turn_leave();
    fold_self = (struct fold_self){0};
    begun = false;
}

/* Gets the process's rank and size in MPI_COMM_WORLD. A spawned process has another MPI_COMM_WORLD,
 * which the first processes do not know; with sessions there is none. */
static bool find_world(bool *spawned, int32_t *rank, int *size)
{
    MPI_Comm parent = fold_mpi.no_comm;
    if (fold_mpi.comm_get_parent(&parent))
        return false;
    *spawned = parent != fold_mpi.no_comm;
    return *spawned ||
           (!fold_mpi.comm_rank(fold_mpi.world, rank) && !fold_mpi.comm_size(fold_mpi.world, size));
}

/* Whether several threads may call MPI; also true if MPI does not say, since that costs little. */
static bool may_call_in_threads(void)
{
    int level = MPI_THREAD_MULTIPLE;
    return fold_mpi.query_thread(&level) || level >= MPI_THREAD_SERIALIZED;
}

/* Tells the agent at most once for a process, however often MPI is initialized. */
static void refuse(void)
{
    static bool refused;
    if (!refused)
        pleat_fold_refuse(getenv(PLEAT_FOLD_ENV));
    refused = true;
}

bool fold_begin(bool world)
{
    static bool watched;
    int32_t rank = TURN_NOBODY;
    int size = 0;
    bool spawned = false;
    if (begun || !wanted())
        return false;
    if (!mpi_is_right()) {
        refuse();
        return false;
    }
    if ((world && !find_world(&spawned, &rank, &size)) || fold_peers_begin(size))
        return false;
    fold_mpi_prepare();
    if (!turn_attach(spawned ? TURN_NOBODY : local_rank(), rank)) {
        fold_peers_end();
        say("not folded: there is no segment at PLEAT_FOLD, or no place in it");
        return false;
    }
    turn_program(size);
    turn_threads(may_call_in_threads());
    begun = true;
    fold_self = (struct fold_self){.mine = true};
    if (!watched)
        watched = pthread_atfork(NULL, NULL, forked) == 0;
    fold_mpi_begin();
    say("folded");
    return true;
}

void fold_end(void)
{
    if (!begun || !fold_self.mine)
        return;
    turn_leave();
    fold_self.mine = false;
    begun = false;
    fold_peers_end();
}

/* ---- the calls ---- */

#define CALL(...)
#define OWN(name, n, ...)                                                                          \
    typedef int name##_call(PARAMETERS_##n(__VA_ARGS__));                                          \
    FOLD_EXPORT name##_call fold_MPI_##name __asm__("MPI_" #name);                                 \
    FOLD_EXPORT name##_call fold_PMPI_##name __asm__("PMPI_" #name);                               \
    static name##_call *real_##name(bool profiling)                                                \
    {                                                                                              \
        return (name##_call *)fold_real(FOLD_##name, profiling);                                   \
    }
#include "fold/calls.def"

static int init(Init_call *real, int *argc, char ***argv)
{
    if (!real)
        return MPI_ERR_INTERN;
    fold_starts_or_ends = wanted();
    int code = real(argc, argv);
    fold_starts_or_ends = false;
    if (!code)
        (void)fold_begin(true);
    return code;
}

int fold_MPI_Init(int *argc, char ***argv)
{
    return init(real_Init(false), argc, argv);
}

int fold_PMPI_Init(int *argc, char ***argv)
{
    return init(real_Init(true), argc, argv);
}

static int init_thread(Init_thread_call *real, int *argc, char ***argv, int required, int *provided)
{
    if (!real)
        return MPI_ERR_INTERN;
    fold_starts_or_ends = wanted();
    int code = real(argc, argv, required, provided);
    fold_starts_or_ends = false;
    if (!code)
        (void)fold_begin(true);
    return code;
}

int fold_MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return init_thread(real_Init_thread(false), argc, argv, required, provided);
}

int fold_PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return init_thread(real_Init_thread(true), argc, argv, required, provided);
}

static int finalize(Finalize_call *real)
{
    if (!real)
        return MPI_ERR_INTERN;
    fold_end();
    fold_starts_or_ends = wanted();
    int code = real();
    fold_starts_or_ends = false;
    return code;
}

int fold_MPI_Finalize(void)
{
    return finalize(real_Finalize(false));
}

int fold_PMPI_Finalize(void)
{
    return finalize(real_Finalize(true));
}

/* Forgets the communicator also for other threads, and while nothing is told: the next one may get
 * the same handle. */
static int free_comm(Comm_free_call *real, MPI_Comm *comm)
{
    if (!real)
        return MPI_ERR_INTERN;
    enum fold_entered entered = fold_enter(false);
    if (entered == FOLD_TOLD) {
        fold_call();
        turn_activity();
    }
    fold_comm_is_freed();
    int code = real(comm);
    fold_comm_is_freed();
    if (entered == FOLD_TOLD)
        fold_leave();
    else
        fold_leave_untold(entered);
    return code;
}

int fold_MPI_Comm_free(MPI_Comm *comm)
{
    return free_comm(real_Comm_free(false), comm);
}

int fold_PMPI_Comm_free(MPI_Comm *comm)
{
    return free_comm(real_Comm_free(true), comm);
}

int fold_MPI_Comm_disconnect(MPI_Comm *comm)
{
    return free_comm(real_Comm_disconnect(false), comm);
}

int fold_PMPI_Comm_disconnect(MPI_Comm *comm)
{
    return free_comm(real_Comm_disconnect(true), comm);
}

/* Preloaded into a program of Open MPI's: the process whose number PLEAT_TEST_DIES names dies when
 * it connects to others, the first time or, as "PROCESS:TIMES" says, after so many times. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Open MPI's handles are pointers. */
__attribute__((visibility("default"))) int MPI_Comm_connect(const char *port, void *info, int root,
                                                            void *comm, void **other);

int MPI_Comm_connect(const char *port, void *info, int root, void *comm, void **other)
{
    static int times;
    union {
        void *symbol;
        int (*call)(const char *, void *, int, void *, void **);
    } real = {.symbol = dlsym(RTLD_NEXT, "MPI_Comm_connect")};
    const char *dies = getenv("PLEAT_TEST_DIES"), *self = getenv("PLEAT_PROCESS");
    int process = -1, after = 0;
    if (dies && self && sscanf(dies, "%d:%d", &process, &after) >= 1 && process == atoi(self) &&
        times++ == after) {
        sleep(1); /* what it has said before is heard: so the others wait for it in MPI */
        raise(SIGKILL);
    }
    return real.call(port, info, root, comm, other);
}

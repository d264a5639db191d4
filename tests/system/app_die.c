/* Preloaded into the ranks of a test: one of them dies while it saves its state.
 *
 * PLEAT_TEST_DIE=RANK:N:FILE: rank RANK kills itself instead of its N-th write to the memory for
 * the state, once: whoever removes FILE does it. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_state(int fd)
{
    char path[64];
    char target[256];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(path, target, sizeof(target) - 1);
    if (length < 0)
        return 0;
    target[length] = '\0';
    return strstr(target, "pleat-state") != NULL;
}

static int my_rank(void)
{
    const char *text = getenv("OMPI_COMM_WORLD_RANK");
    if (!text)
        text = getenv("PMI_RANK");
    return text ? atoi(text) : -1;
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
    static int writes;
    static ssize_t (*real)(int, const void *, size_t, off_t);
    int rank = 0;
    int number = 0;
    char file[256];
    const char *order = getenv("PLEAT_TEST_DIE");
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pwrite");
    if (order && is_state(fd) && sscanf(order, "%d:%d:%255s", &rank, &number, file) == 3 &&
        rank == my_rank() && ++writes == number && unlink(file) == 0)
        raise(SIGKILL);
    return real(fd, data, bytes, offset);
}

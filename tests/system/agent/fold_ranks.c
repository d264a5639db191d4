/* Plays the processes of a folded program, without MPI.
 *
 *   fold-ranks COUNT DIRECTORY [HOW [WORK...]]
 *
 * Forks COUNT processes, which find the segment through their environment, attach and pass a
 * number round and round, each adding one; a process that waits for it gives its processor away.
 * `ring`: until the file `stop` is in DIRECTORY; each also computes for WORK us in every round (one
 * for each process, the last one for all that follow). `silent`: they do not attach. `lie`: the
 * first one says that it is process 1 of the machine. `scribble`: the first one writes nonsense all
 * over the segment. `die`: the last one is killed by itself as soon as the file `die` is there.
 * `stay`: when there is a file `leave`, they leave the segment, and go on until `stop`.
 *
 * Writes the pids to DIRECTORY/pids; prints the number of rounds that were right, or why one was
 * not. */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fold/turn.h"
#include "shm/fold.h"

#define COUNT_MAX 256

struct shared {
    _Atomic uint64_t token; /* how often it was passed */
    _Atomic uint64_t rounds;
    _Atomic int stopping;
    _Atomic int wrong;
};

static int count;
static const char *directory;
static const char *how = "ring";
static long work_us[COUNT_MAX];

static bool is_there(const char *name)
{
    char path[1024];
    struct stat found;
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return stat(path, &found) == 0;
}

static int64_t used_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void compute(long us)
{
    int64_t end = used_us() + us;
    while (us && used_us() < end)
        ;
}

static int open_segment(struct stat *all)
{
    const char *path = getenv(PLEAT_FOLD_ENV);
    int fd = path ? open(path, O_RDWR) : -1;
    if (fd < 0 || fstat(fd, all))
        _exit(3);
    return fd;
}

static void scribble(void)
{
    struct stat all;
    int fd = open_segment(&all);
    unsigned char *bytes =
        mmap(NULL, (size_t)all.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED)
        _exit(3);
    uint64_t x = 88172645463325252u;
    for (off_t i = 0; i < all.st_size; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        bytes[i] = (unsigned char)x;
    }
    munmap(bytes, (size_t)all.st_size);
    close(fd);
}

/* Says that its slot is somebody else's. */
static void lie(void)
{
    const int32_t mine = getpid();
    const int32_t another = 1;
    struct stat all;
    int fd = open_segment(&all);
    int32_t word;
    for (off_t at = 0; at + 4 <= all.st_size; at += 4)
        if (pread(fd, &word, 4, at) == 4 && word == mine && pwrite(fd, &another, 4, at) != 4)
            _exit(3);
    close(fd);
}

static void before_a_round(int index, uint64_t round, bool *attached)
{
    if (index == 0 && round == 3 && strcmp(how, "scribble") == 0)
        scribble();
    if (index == 0 && round == 3 && strcmp(how, "lie") == 0)
        lie();
    if (strcmp(how, "die") == 0 && index == count - 1 && is_there("die"))
        raise(SIGKILL);
    if (strcmp(how, "stay") == 0 && *attached && is_there("leave")) {
        turn_leave();
        *attached = false;
    }
}

static void pass_on(struct shared *shared, int index, bool attached)
{
    int next = (index + 1) % count;
    uint64_t mine = (uint64_t)index;
    while (!shared->stopping) {
        uint64_t token = shared->token;
        if (token % (uint64_t)count != mine) {
            if (!attached || !turn_wait())
                usleep(100);
            continue;
        }
        if (attached)
            turn_received((index + count - 1) % count);
        before_a_round(index, token / (uint64_t)count, &attached);
        compute(work_us[index]);
        if (!atomic_compare_exchange_strong(&shared->token, &token, token + 1))
            shared->wrong = 1;
        if (index == count - 1)
            shared->rounds++;
        if (index == 0 && (token / (uint64_t)count) % 16 == 0 && is_there("stop"))
            shared->stopping = 1;
        if (attached) {
            turn_sent(next);
            turn_receiving((index + count - 1) % count);
        }
    }
}

static void be(struct shared *shared, int index)
{
    bool attached = strcmp(how, "silent") != 0 && turn_attach(index, index);
    if (!attached && strcmp(how, "silent") != 0)
        _exit(2);
    pass_on(shared, index, attached);
    if (attached)
        turn_leave();
    _exit(0);
}

static void write_pids(const pid_t *pids)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/pids", directory);
    FILE *file = fopen(path, "w");
    for (int i = 0; file && i < count; i++)
        fprintf(file, "%d\n", (int)pids[i]);
    if (file)
        fclose(file);
}

int main(int argc, char **argv)
{
    pid_t pids[COUNT_MAX];
    int bad = 0;
    if (argc < 3 || (count = atoi(argv[1])) < 1 || count > COUNT_MAX)
        return 2;
    directory = argv[2];
    if (argc > 3)
        how = argv[3];
    for (int i = 0; i < count; i++)
        work_us[i] = argc > 4 ? atol(argv[4 + (i < argc - 5 ? i : argc - 5)]) : 0;
    struct shared *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 2;
    for (int i = 0; i < count; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            be(shared, i);
    }
    write_pids(pids);
    for (int i = 0; i < count; i++) {
        int status;
        if (pids[i] < 0 || waitpid(-1, &status, 0) < 0 || status) {
            bad++;
            shared->stopping = 1;
        }
    }
    if (bad || shared->wrong)
        printf("%d bad, %s\n", bad, shared->wrong ? "wrong" : "right");
    else
        printf("right, %" PRIu64 " rounds\n", shared->rounds);
    return bad != 0;
}

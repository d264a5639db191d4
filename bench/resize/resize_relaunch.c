/* resize_relaunch FILE BYTES ROWS - one life of a program that is resized by stopping it and
 * starting it again at another size: loads its block of rows from FILE (an empty file: fills
 * it in), checks it, saves it, ends.
 *
 * Prints the monotonic clock in nanoseconds when all ranks have loaded ("LOADED") and before they
 * save ("SAVING"); "RESULT ok" when the state was right. FILE is in memory, which is the cheapest
 * way to save. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bare.h"

/* All ranks are there: rank 0 says when. */
static void stamp(const struct bare *bare, const char *what)
{
    struct timespec now;
    MPI_Barrier(bare->comm);
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (bare->rank == 0)
        printf("%s %lld\n", what, (long long)now.tv_sec * 1000000000LL + now.tv_nsec);
}

/* Reads or writes this rank's block. */
static void transfer(const struct bare *bare, int file, int save)
{
    long long row_bytes = bare->words * 8;
    char *at = (char *)bare->data;
    off_t offset = (off_t)(bare->first * row_bytes);
    size_t left = (size_t)(bare->count * row_bytes);
    while (left) {
        ssize_t n = save ? pwrite(file, at, left, offset) : pread(file, at, left, offset);
        if (n <= 0) {
            perror(save ? "saving" : "loading");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        at += n;
        offset += n;
        left -= (size_t)n;
    }
}

int main(int argc, char **argv)
{
    struct bare bare = {0};
    struct stat status;
    if (argc != 4 || (bare.rows = atoll(argv[3])) < 1 ||
        (bare.words = atoll(argv[2]) / bare.rows / 8) < 1) {
        fputs("usage: resize_relaunch FILE BYTES ROWS\n", stderr);
        return 2;
    }
    int file = open(argv[1], O_RDWR | O_CLOEXEC);
    if (file < 0 || fstat(file, &status)) {
        perror(argv[1]);
        return 1;
    }
    MPI_Init(&argc, &argv);
    bare_start(&bare);
    MPI_Barrier(bare.comm); /* nobody saves before all have looked at the file's size */
    if (status.st_size)
        transfer(&bare, file, 0);
    else
        bare_fill_words(&bare);
    stamp(&bare, "LOADED");
    long long wrong = bare_wrong_words(&bare);
    stamp(&bare, "SAVING");
    transfer(&bare, file, 1);
    MPI_Barrier(bare.comm);
    if (bare.rank == 0)
        printf("RESULT %s\n", wrong ? "wrong" : "ok");
    bare_finish(&bare);
    close(file);
    MPI_Finalize();
    return wrong != 0;
}

/* bare.h - rows in blocks, and resizing them in plain MPI: what Pleat is measured against. Errors
 * end the program (MPI's default). */
#ifndef PLEAT_BENCH_BARE_H
#define PLEAT_BENCH_BARE_H

#include <mpi.h>

struct bare {
    MPI_Comm comm; /* MPI_COMM_NULL: this rank leaves */
    int rank, size;
    long long rows, words;    /* words of 8 bytes per row */
    long long first, count;   /* this rank's rows */
    unsigned long long *data; /* the first of them; a zeroed halo row before and after the block */
};

void bare_block(long long rows, int size, int rank, long long *first, long long *count);
/* Room for this rank's block on a duplicate of MPI_COMM_WORLD. rows and words are set. */
void bare_start(struct bare *bare);
/* Starts ranks of argv[0] with the arguments after it, and shares the rows with them. */
void bare_grow(struct bare *bare, int to, long long step, char **argv);
/* The other side of it, in a process with this parent; *step is the others'. */
void bare_join(struct bare *bare, MPI_Comm parent, long long *step);
void bare_shrink(struct bare *bare, int to);
void bare_finish(struct bare *bare);

/* A state in which every word has a value of its own. */
void bare_fill_words(const struct bare *bare);
/* How many words of all ranks are wrong. */
long long bare_wrong_words(const struct bare *bare);

#endif

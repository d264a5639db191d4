/* scratch.h - what belongs to a benchmark's runs: a directory, and processes known by a mark in
 * their environment; both can be cleared away whatever happened. */
#ifndef PLEAT_BENCH_FOLD_SCRATCH_H
#define PLEAT_BENCH_FOLD_SCRATCH_H

/* Makes a directory in memory (/dev/shm), becomes the parent of orphans, and marks what this
 * process starts from now on. Exits with 1 where that cannot be done. */
void scratch_init(void);
/* Ends all marked processes but this one, reaps its children, and empties the directory. Nothing
 * before scratch_init. */
void scratch_clear(void);
/* The same, and removes the directory. May be called twice. */
void scratch_finish(void);
const char *scratch_directory(void);

#endif

/* calls.h - test programs of folding: every part makes calls of one kind and returns their result,
 * which must not depend on which process had a processor when.
 */
#ifndef TEST_FOLD_CALLS_H
#define TEST_FOLD_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#define ROUNDS 20

extern int rank, size; /* in MPI_COMM_WORLD */

/* Ends the program when an MPI call failed, or what it gave is wrong. */
#define MUST(good) must((good), #good, __FILE__, __LINE__)
void must(bool good, const char *what, const char *file, int line);
#define DO(call) MUST((call) == 0)

/* The next of a sequence that only depends on what was mixed so far. */
int64_t mix(int64_t sum, int64_t value);

int64_t do_blocking(void);
int64_t do_nonblocking(void);
int64_t do_tests(void);
int64_t do_probes(void);
int64_t do_persistent(void);
int64_t do_collectives(void);
int64_t do_begun_collectives(void);
int64_t do_neighbours(void);
int64_t do_communicators(void);
int64_t do_between(void);
int64_t do_one_sided(void);
int64_t do_locks(void);
int64_t do_requests_one_sided(void);
int64_t do_files(void);
int64_t do_errors(void);

#endif

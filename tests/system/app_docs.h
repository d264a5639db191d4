/* What is declared around the snippets of docs/mpi-programmer.md. */
#include <pleat.h>
#include <stdio.h>
#include <stdlib.h>

extern struct pleat_session *session;
extern struct pleat_error err;
extern struct pleat_array *a, *u;
extern long n;
extern MPI_Comm own;
extern int step, sweep, in_step, in_sweep, what;
#define SWEEPS 10
void prepare(int step);
void compute(int step, int sweep);
int snippet(void);
#ifdef IN_FUNCTION
int solver(struct pleat_session *session, enum pleat_moment moment,
           const struct pleat_offer *change, void *arg);
void columns(const char *name, int size, int dims, int *grid, void *arg);
#endif

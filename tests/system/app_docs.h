/* What is declared around the snippets of docs/mpi-programmer.md. */
#include <pleat.h>
#include <stdio.h>
#include <stdlib.h>

extern struct pleat_session *session;
extern struct pleat_error err;
extern struct pleat_array *a, *u;
extern long n;
int give_up(const struct pleat_error *why);
int snippet(void);

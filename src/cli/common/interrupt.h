/* interrupt.h - Ctrl-C and its like: the first asks for an orderly end, the second leaves at once.
 */
#ifndef PLEAT_CLI_COMMON_INTERRUPT_H
#define PLEAT_CLI_COMMON_INTERRUPT_H

#include <signal.h>

/* From now on SIGINT, SIGTERM and SIGHUP set the flag (one that is ignored stays ignored), a
 * further one ends the program with 128 + its number; SIGPIPE is ignored, so that writes say EPIPE.
 */
void pleat_interrupt_catch(void);
/* The flag for pleat_client_set_interrupt: the number of the signal, or 0. */
const volatile sig_atomic_t *pleat_interrupt_flag(void);
int pleat_interrupt_signal(void);
/* The next such signal sets the flag again, instead of ending the program. */
void pleat_interrupt_reset(void);
/* What is done before a signal ends the program: a function that is allowed in a handler. NULL:
 * nothing. */
void pleat_interrupt_do(void (*act)(void));
/* A file that is removed where a signal ends the program; NULL: none. Borrowed. */
void pleat_interrupt_remove(const char *path);
/* From now on any such signal ends the program, also the first. */
void pleat_interrupt_again(void);

#endif

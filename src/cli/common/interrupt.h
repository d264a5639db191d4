/* interrupt.h - Ctrl-C and signals like it: the first asks for an orderly end, the second ends the
 * program at once. */
#ifndef PLEAT_CLI_COMMON_INTERRUPT_H
#define PLEAT_CLI_COMMON_INTERRUPT_H

#include <stdatomic.h>

/* From now on SIGINT, SIGTERM and SIGHUP set the flag; one that was ignored stays ignored. A
 * further one ends the program with 128 + its number. SIGPIPE is ignored, so that writes fail with
 * EPIPE. */
void pleat_interrupt_catch(void);
/* The flag for pleat_client_set_interrupt: the number of the signal, or 0. */
const atomic_int *pleat_interrupt_flag(void);
int pleat_interrupt_signal(void);
/* The next of these signals sets the flag again, instead of ending the program. */
void pleat_interrupt_reset(void);
/* Sets the function that is called before a signal ends the program; it must be allowed in a signal
 * handler. NULL: none. */
void pleat_interrupt_do(void (*act)(void));
/* Sets the file that is removed before a signal ends the program; NULL: none. Borrowed. */
void pleat_interrupt_remove(const char *path);
/* From now on any of these signals ends the program, also the first. */
void pleat_interrupt_again(void);

#endif

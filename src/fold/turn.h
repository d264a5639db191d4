/* turn.h - who has the processor: what the wrappers of MPI calls (wrap.c) tell, and what a process
 * that waits does about it (turn.c).
 *
 * The seam between "which MPI call was that?" and "who runs next?": nothing here knows MPI, and
 * nothing in wrap.c knows futexes. Processes are named by their index on this node.
 *
 * All of it is for the thread that called turn_attach, but turn_activity and turn_wait: these are
 * for any thread where several may call MPI (turn_threads), which then take turns with other
 * processes together. Where one may, others that wait only yield.
 */
#ifndef PLEAT_FOLD_TURN_H
#define PLEAT_FOLD_TURN_H

#include <stdbool.h>
#include <stdint.h>

#define TURN_NOBODY (-1)
#define TURN_ANYBODY (-2) /* somebody, and it is not known who */

/* Whether anything below has to be called at all: attached, and the settings want it. One load;
 * while it is false an intercepted MPI call costs nothing else. */
bool turn_is_on(void);

/* Whether messages have to be told of, too (turn_sent to turn_activity): not while those that wait
 * only yield, on all processors, since then nobody asks for whom there is one. */
bool turn_is_told(void);

/* Whether every process of the program has a processor for itself, so that polling disturbs nobody:
 * not while the partition is not known. */
bool turn_has_room(void);
/* The same, told by one that has just polled in vain: so what it does between its waits is known
 * also while no call is told of. For a clock's reading at each such poll, and nothing at calls. */
bool turn_polls_alone(void);

/* How this MPI waits best (enum pleat_fold_wait), for wait=auto: on a processor that processes do
 * not leave and on which nobody else computes, and everywhere else. Before turn_attach. */
void turn_prefer(uint8_t quiet, uint8_t contended);

/* After MPI_Init: takes the place `index` (the process's rank on its node; TURN_NOBODY or one that
 * is taken: any free one). False: there is no segment, or no place: the program runs unfolded. */
bool turn_attach(int32_t index, int32_t rank);
/* The program has `size` processes (0: it is not known). If not all of them have places here, some
 * messages come from other nodes, and no process here can tell of those. After turn_attach. */
void turn_program(int size);
/* Several threads may call MPI (MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE). After turn_attach, and
 * before another thread calls anything here. */
void turn_threads(bool several);
/* Whether other threads than the one that attached take part. */
bool turn_is_for_all(void);
/* Before MPI_Finalize, and in a forked child. */
void turn_leave(void);

/* CPUs, as sched_setaffinity takes them. */
#define TURN_CPUS 8192 /* as many as Linux can be built for */
struct turn_cpus {
    unsigned long bits[TURN_CPUS / (8 * sizeof(unsigned long))];
};
/* Whether the caller is bound to one CPU of several that the partition has, which are `all`, and so
 * would be a thread that it starts. */
bool turn_binds_threads(struct turn_cpus *all);
/* Binds the calling thread to these CPUs. For any thread; needs nothing else of this file. */
void turn_roam(const struct turn_cpus *cpus);

/* The process of this node whose rank is `rank`; TURN_NOBODY: there is none, or it is not there
 * yet. Looks through all places. */
int32_t turn_place(int32_t rank);

/* A message was sent to `to` (TURN_NOBODY: to a process of another node). */
void turn_sent(int32_t to);
/* This process begins to wait for a message of `from` (TURN_NOBODY: of another node; TURN_ANYBODY);
 * it has received one. */
void turn_receiving(int32_t from);
void turn_received(int32_t from);
/* Something happened that may let any other process go on (a collective, one-sided access). */
void turn_activity(void);

/* An MPI call begins: what was polled in vain before says nothing about this one. */
void turn_call(void);
/* The MPI library has looked for messages and found nothing: gives the processor to a process that
 * can use it, and returns when this one should look again. Returns false where the MPI should do
 * what it does by itself. */
bool turn_wait(void);
/* The MPI library has found a message. */
void turn_progressed(void);

#endif

/* turn.h - who has the processor: what the wrappers of MPI calls (wrap.c) tell, and what a waiting
 * process does about it (turn.c).
 *
 * This separates "which MPI call was that?" from "who runs next?": nothing here knows MPI, and
 * nothing in wrap.c knows futexes. Processes are named by their index on this node.
 *
 * All functions are for the thread that called turn_attach, but turn_activity and turn_wait. These
 * two are for any thread if several threads may call MPI (turn_threads): then the waiting threads
 * of the process take part one at a time. If only one thread may call MPI, others that wait just
 * yield.
 */
#ifndef PLEAT_FOLD_TURN_H
#define PLEAT_FOLD_TURN_H

#include <stdbool.h>
#include <stdint.h>

#define TURN_NOBODY (-1)
#define TURN_ANYBODY (-2) /* some process, but it is not known which */

/* Whether the functions below must be called at all: the process is attached, and the settings need
 * it. One load from memory; while it is false an intercepted MPI call costs nothing else. */
bool turn_is_on(void);

/* Whether messages must be told of, too (turn_sent to turn_activity). Not if waiting processes only
 * yield on all processors, since then nobody asks for whom there is a message. */
bool turn_is_told(void);

/* Whether every process of the program has a processor to itself, so that polling disturbs nobody.
 * False while the partition is not known. */
bool turn_has_room(void);
/* The same, called after a poll in vain: so the time between waits is measured also while no call
 * is told of. It costs reading a clock at each such poll, and nothing at calls. */
bool turn_polls_alone(void);

/* Sets how this MPI waits best (enum pleat_fold_wait), for wait=auto: `quiet` for a processor that
 * processes do not leave and on which nobody else computes, `contended` for others. Before
 * turn_attach. */
void turn_prefer(uint8_t quiet, uint8_t contended);

/* After MPI_Init: takes the place `index` (the process's rank on its node), or any free one if that
 * is TURN_NOBODY or taken. False: there is no segment or no place, and the program runs unfolded.
 */
bool turn_attach(int32_t index, int32_t rank);
/* The program has `size` processes (0: it is not known). If not all of them have places here, some
 * messages come from other nodes, and no process here can tell of those. After turn_attach. */
void turn_program(int size);
/* Sets whether several threads may call MPI (MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE). After
 * turn_attach, and before another thread calls a function of this header. */
void turn_threads(bool several);
/* Whether threads other than the one that attached take part. */
bool turn_is_for_all(void);
/* Gives the place up: before MPI_Finalize, and in a forked child. */
void turn_leave(void);

/* A set of CPUs, as sched_setaffinity takes it. */
#define TURN_CPUS 8192 /* the most that Linux can be built for */
struct turn_cpus {
    unsigned long bits[TURN_CPUS / (8 * sizeof(unsigned long))];
};
/* Whether the caller is bound to one CPU of a partition with several, so that a thread that it
 * starts would be bound, too. *all: the CPUs of the partition. */
bool turn_binds_threads(struct turn_cpus *all);
/* Binds the calling thread to these CPUs. For any thread; needs nothing else of this file. */
void turn_roam(const struct turn_cpus *cpus);

/* The index on this node of the process with that rank; TURN_NOBODY: there is none, or it is not
 * attached yet. Searches all places. */
int32_t turn_place(int32_t rank);

/* A message was sent to `to` (TURN_NOBODY: to a process of another node). */
void turn_sent(int32_t to);
/* This process begins to wait for a message of `from` (TURN_NOBODY: of another node; TURN_ANYBODY);
 * it has received one. */
void turn_receiving(int32_t from);
void turn_received(int32_t from);
/* Something happened after which any other process may be able to go on, such as a collective or
 * one-sided access. */
void turn_activity(void);

/* An MPI call begins: earlier polls in vain say nothing about it. */
void turn_call(void);
/* The MPI library has looked for messages and found nothing: gives the processor to a process that
 * can use it, and returns when this one should look again. Returns false where the MPI should do
 * what it does by itself. */
bool turn_wait(void);
/* The MPI library has found a message. */
void turn_progressed(void);

#endif

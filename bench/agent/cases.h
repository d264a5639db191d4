/* cases.h - what two processes send to one another: the same for each way of sending. */
#ifndef PLEAT_BENCH_AGENT_CASES_H
#define PLEAT_BENCH_AGENT_CASES_H

#include <stdbool.h>
#include <stddef.h>

/* Both wait. What fails ends the process with a text. */
struct wire {
    void (*send)(const void *bytes, size_t count);
    void (*receive)(void *bytes, size_t count);
};

/* Runs all cases, each with `percent` of the usual number of messages. The first process prints a
 * line for each: NAME VALUE; microseconds of a message one way, or MB/s. */
void cases_run(const struct wire *wire, bool first, int percent);

#endif

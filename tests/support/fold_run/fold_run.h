/* fold_run.h - fold-run: runs a command folded without a daemon or an agent, for measuring and for
 * tests. Nothing of it is installed. */
#ifndef PLEAT_TESTS_SUPPORT_FOLD_RUN_H
#define PLEAT_TESTS_SUPPORT_FOLD_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "agent/contention.h"
#include "shm/fold.h"

#define RUN_CPUS 1024
#define RUN_CHANGES 4096

struct run_change {
    double at_s;    /* after the start */
    uint32_t count; /* number of CPUs, the first ones of the list */
    /* what came of it */
    int64_t done_us; /* CLOCK_MONOTONIC; 0: not yet */
    int64_t took_us;
};

struct run_options {
    uint32_t processes;
    uint32_t cpus[RUN_CPUS], cpu_count;
    uint32_t hogs; /* processes that do nothing but compute, on each CPU */
    struct pleat_fold_settings settings;
    const char *settings_text, *preload, *out;
    const char *samples; /* a file; NULL: none are taken */
    const char *pool;    /* of the runs that share processors in time; NULL: none */
    bool unfolded, blockwise;
    int contended; /* -1: found out */
    struct run_change *changes;
    uint32_t change_count;
    char **command;
};

/* Reads the command line; prints what is wrong and exits. */
void run_options_read(struct run_options *options, int argc, char **argv);

/* ---- a run ---- */

struct run {
    const struct run_options *options;
    struct pleat_fold *fold; /* NULL: unfolded */
    uint32_t count;          /* processors of the partition */
    uint32_t where[PLEAT_FOLD_PROCESSES_MAX];
    pid_t known[PLEAT_FOLD_PROCESSES_MAX]; /* already bound to their CPU */
    uint32_t begun; /* processors of the partition when the command was started */
    uint32_t spread[PLEAT_FOLD_PROCESSES_MAX];      /* likewise, that its helper threads have */
    int64_t came_with_us[PLEAT_FOLD_PROCESSES_MAX]; /* processor time that it had then */
    uint32_t attached;                              /* most at one time */
    struct pleat_contention contention[RUN_CPUS];
    int64_t looked_us; /* when; 0: there is nothing to compare with */
    pid_t command, hogs[RUN_CPUS * 4];
    uint32_t hog_count;
};

/* Binds the command to the CPUs of the partition; a process of the program to its own. */
void run_bind(const struct run *run, pid_t pid, uint32_t first, uint32_t count);
/* Changes the partition to the first `count` CPUs. */
void run_repartition(struct run *run, uint32_t count);
/* Binds processes that have attached since. */
void run_bind_new(struct run *run);
/* Looks whether somebody else computes on the processors of the partition, and tells it. */
void run_look_for_others(struct run *run);

#endif

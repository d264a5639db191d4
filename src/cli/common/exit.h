/* exit.h - the exit codes of `pleat`; docs/commands.md tells users the same. */
#ifndef PLEAT_CLI_COMMON_EXIT_H
#define PLEAT_CLI_COMMON_EXIT_H

enum pleat_exit {
    PLEAT_EXIT_OK = 0,
    PLEAT_EXIT_FAILED = 1,    /* the daemon refused, or the command did not work */
    PLEAT_EXIT_USAGE = 2,     /* the command line (or a file of input) is wrong; nothing was done */
    PLEAT_EXIT_NO_DAEMON = 3, /* no daemon could be reached or started, or the connection broke */
    PLEAT_EXIT_NO_JOB = 4,    /* there is no such job */

    /* `pleat run` exits with the job's own code, or with these, as a shell does: */
    PLEAT_EXIT_BEFORE_RUN = 125,     /* Pleat failed, so the program did not run */
    PLEAT_EXIT_NOT_EXECUTABLE = 126, /* the program exists, but cannot be executed */
    PLEAT_EXIT_NO_PROGRAM = 127,     /* no such program */
    PLEAT_EXIT_SIGNAL = 128,         /* plus the number of the signal that ended the job */
    PLEAT_EXIT_INTERRUPTED = 130     /* Ctrl-C */
};

#endif

/* terminal_keeper.h - restores a terminal whose program was killed (SIGKILL) while it had set raw
 * mode. */
#ifndef PLEAT_CLI_JOBS_TERMINAL_KEEPER_H
#define PLEAT_CLI_JOBS_TERMINAL_KEEPER_H

#include <sys/types.h>
#include <termios.h>

struct pleat_terminal_keeper {
    pid_t pid; /* 0: there is none */
    int end;   /* of a pipe: closed by the end of this process, however that comes */
};

/* Forks a process that waits for this one's end. If standard input is a terminal that has the
 * settings *raw then, it gets *usual. Without a keeper (no processes left) all else works. */
void pleat_terminal_keeper_begin(struct pleat_terminal_keeper *keeper, const struct termios *usual,
                                 const struct termios *raw);
/* Ends the keeper. Accepts one that was not begun. */
void pleat_terminal_keeper_end(struct pleat_terminal_keeper *keeper);

#endif

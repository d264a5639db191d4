/* commands.h - jobs submitted by a command for each, as scripts do it. */
#ifndef PLEAT_BENCH_COMMANDS_H
#define PLEAT_BENCH_COMMANDS_H

/* Commands per second: `clients` (at most 8) at once, each runs `argv` (a path, options, NULL)
 * `count` times, one after another, its output thrown away. A command that fails ends the
 * benchmark. */
double bench_commands(char *const argv[], int clients, int count);

#endif

/* submission_help.h - the texts of the options that describe a job, for --help and the manual. */
#ifndef PLEAT_DESCRIBE_SUBMISSION_HELP_H
#define PLEAT_DESCRIBE_SUBMISSION_HELP_H

#define PLEAT_SUBMISSION_HELP                                                                      \
    "  -n, --processors N   exactly N processors (rigid; default: 1)\n"                            \
    "      --min N          at least N processors (default: 1; may be 0: it may then be shrunk "   \
    "to\n"                                                                                         \
    "                       nothing where its program can)\n"                                      \
    "      --max N          at most N. With --min and --max apart the job is malleable if its\n"   \
    "                       program is linked with libpleat, else its size is chosen at its "      \
    "start\n"                                                                                      \
    "      --initial N      start with N (default: as many as are available)\n"                    \
    "      --sizes SIZES    which sizes it takes: any, powers (of two), squares, grids (r x r "    \
    "and\n"                                                                                        \
    "                       r x (r+1)), multiples:N, or a list such as 2,4,6 (default: any)\n"     \
    "  -c, --cpus-per-task C  each of its processes has C processors, and OpenMP as many "         \
    "threads: -n,\n"                                                                               \
    "                       --min, --max, --initial and --sizes then count processes: -n 4 -c "    \
    "2 is 8\n"                                                                                     \
    "                       processors (default: a processor for each, and nothing about "         \
    "threads)\n"                                                                                   \
    "      --processes N    an unmodified MPI program runs with N processes (2,4,8 or 2-8: one "   \
    "of\n"                                                                                         \
    "                       these is chosen at its start) on fewer processors, and these change\n" \
    "                       while it runs: it is folded\n"                                         \
    "      --mpl M          at most M processes on a processor (default: as --min lets it, else "  \
    "4)\n"                                                                                         \
    "      --fold SETTINGS  how its processes take turns: wait=spin,next=sender,mapping=balance\n" \
    "      --count-word W   where W stands by itself in the command, the number of processes "     \
    "that\n"                                                                                       \
    "                       is chosen is put: N in cg.B.N\n"                                       \
    "      --no-fold        it runs with a processor for each of its processes, all the same\n"    \
    "      --class CLASS    short or long: some policies treat these differently\n"                \
    "      --moldable       its size is chosen at its start and stays, also if it could change\n"  \
    "      --malleable      it changes its size while it runs, also if that cannot be seen: a "    \
    "batch\n"                                                                                      \
    "                       script that starts its program with 'pleat launch'\n"                  \
    "      --asks           it decides itself, when offered a change, what it accepts\n"           \
    "      --on-resize WAY  auto, merge (processes join and leave), relaunch (all end and are\n"   \
    "                       started again from the state kept in memory) (default: auto)\n"        \
    "      --notice TIME    so long it is given to shrink when it must, before that is enforced\n" \
    "      --lifetime TIME  once its size was changed, policies leave it so for at least so "      \
    "long\n"                                                                                       \
    "      --runner KIND    auto, plain, mpi, malleable, folded (default: auto: what it is "       \
    "linked\n"                                                                                     \
    "                       with)\n"                                                               \
    "      --mpi WHICH      auto, openmpi, mpich, none (default: auto)\n"                          \
    "      --name NAME      (default: the program's name)\n"                                       \
    "      --site SITE      run there (default: anywhere)\n"                                       \
    "      --estimate TIME  how long it will run, as far as known: 90s, 15min, 1h30m\n"            \
    "      --time-limit TIME  it is ended when it has run so long; also its estimate where none "  \
    "is\n"                                                                                         \
    "                       given\n"                                                               \
    "      --signal [B:]SIG[@TIME]  it is sent that signal TIME before its time limit (default: "  \
    "60s):\n"                                                                                      \
    "                       all its processes but the script, or with B: the script alone\n"       \
    "      --memory SIZE    all its processes together may use so much: 512M, 2G (units K, M, G, " \
    "T);\n"                                                                                        \
    "                       with more it is ended, and fails\n"                                    \
    "      --no-requeue     it is never started again when it may have been started: where its\n"  \
    "                       processors or its agent are lost, it fails\n"                          \
    "      --priority N     where the order looks at priorities, higher ones go first (default: "  \
    "0)\n"                                                                                         \
    "      --deadline WHEN  to be done by then: 2h from the submission on, or at 14:30\n"          \
    "      --begin WHEN     start then (advance reservation): refused where its processors are\n"  \
    "                       taken; needs --estimate or --time-limit\n"                             \
    "      --array LIST     many jobs, one for each index: 0-9, 1-99:2, 1,4,7; %4 behind it: 4 "   \
    "at one\n"                                                                                     \
    "                       time. Only with 'pleat submit'\n"                                      \
    "      --hold           it does not start before 'pleat release'\n"                            \
    "      --dependency LIST  it waits for other jobs: afterok:JOB (its good end), "               \
    "afternotok:JOB,\n"                                                                            \
    "                       afterany:JOB, after:JOB (its start), several :JOB:JOB, singleton "     \
    "(all of\n"                                                                                    \
    "                       that name); ',' all of them, '?' one is enough\n"                      \
    "      --chdir DIR      run in DIR (default: the current directory)\n"                         \
    "      --export WHICH   the environment that goes along: all, none (but HOME, LOGNAME, "       \
    "PATH,\n"                                                                                      \
    "                       SHELL, USER), or names of variables beside these: A,B (default: "      \
    "all)\n"                                                                                       \
    "      --env NAME=VALUE sets a variable; may be repeated\n"                                    \
    "      --output FILE    its standard output goes there, from its directory; %j is the job's\n" \
    "                       number, %x its name, %u its user, %A and %a its array and index\n"     \
    "      --error FILE     the same for its standard error\n"                                     \
    "      --input FILE     its standard input comes from there\n"                                 \
    "      --pty            it has a terminal of its own, shown on this one: keys, Ctrl-C among "  \
    "them, go\n"                                                                                   \
    "                       to it; of an MPI program: to rank 0. Only with 'pleat "                \
    "run'\n"                                                                                       \
    "      --wrap COMMAND   instead of a program: a command line for the shell\n"                  \
    "      --append         keep what is in these files (default: they are emptied at its "        \
    "start)\n"                                                                                     \
    "      --sbatch         lines #SBATCH of the script count, as far as they have an "            \
    "equivalent\n"                                                                                 \
    "      --notify COMMAND run COMMAND (with sh -c) when it ends; what happened is in "           \
    "PLEAT_EVENT\n"                                                                                \
    "      --notify-on LIST when: of start, end, fail, resize, warning (default: end,fail)\n"

#endif

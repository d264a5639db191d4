/* submission_help.h - the texts of the options that describe a job, for --help and the manual. */
#ifndef PLEAT_DESCRIBE_SUBMISSION_HELP_H
#define PLEAT_DESCRIBE_SUBMISSION_HELP_H

#define PLEAT_SUBMISSION_HELP                                                                      \
    "  -n, --processors N   exactly N processors (default: 1): the job is rigid\n"                 \
    "      --min N          at least N processors (default: 1). With 0 the job may be "            \
    "shrunk to no\n"                                                                               \
    "                       processors, if its runner can do that\n"                               \
    "      --max N          at most N processors. If --min is below --max, the job is "            \
    "malleable\n"                                                                                  \
    "                       when its program is linked with libpleat, else moldable: its "         \
    "size is\n"                                                                                    \
    "                       chosen when it starts\n"                                               \
    "      --initial N      start with N processors (default: as many as are available)\n"         \
    "      --sizes SIZES    the sizes that the program can use: any, powers (of two), "            \
    "squares, grids\n"                                                                             \
    "                       (r x r and r x (r+1)), multiples:N, or a list: 2,4,6 (default: "       \
    "any)\n"                                                                                       \
    "  -c, --cpus-per-task C  each process has C processors and C OpenMP threads. -n, "            \
    "--min, --max,\n"                                                                              \
    "                       --initial and --sizes then count processes: -n 4 -c 2 is 8 "           \
    "processors\n"                                                                                 \
    "                       (default: one processor each; OpenMP is told nothing)\n"               \
    "      --processes N    fold an unmodified MPI program: it runs with N processes on fewer\n"   \
    "                       processors, whose number changes while it runs. With 2,4,8 or "        \
    "2-8 one\n"                                                                                    \
    "                       of these numbers is chosen when the job starts\n"                      \
    "      --mpl M          at most M processes on a processor (default: what --min "              \
    "implies, else 4)\n"                                                                           \
    "      --fold SETTINGS  how the processes take turns: "                                        \
    "wait=spin,next=sender,mapping=balance\n"                                                      \
    "      --count-word W   the word W in the command is replaced by the number of "               \
    "processes that\n"                                                                             \
    "                       is chosen: N in cg.B.N\n"                                              \
    "      --no-fold        with --processes: do not fold; each process has a processor of "       \
    "its own\n"                                                                                    \
    "      --class CLASS    short or long: some policies treat short and long jobs "               \
    "differently\n"                                                                                \
    "      --moldable       the size is chosen when the job starts and stays, also if the "        \
    "program\n"                                                                                    \
    "                       could change it\n"                                                     \
    "      --malleable      the job changes its size while it runs. Needed where Pleat "           \
    "cannot see\n"                                                                                 \
    "                       that: for a batch script that starts its program with 'pleat "         \
    "launch'\n"                                                                                    \
    "      --evolving       the program asks for processes itself while it runs, and ends them\n"  \
    "                       (libpleat-process): it starts with -n or --processes N (default: "     \
    "--min,\n"                                                                                     \
    "                       else 1), and may have up to --max; %{architecture} in the\n"           \
    "                       program's name is that of the node where it is executed\n"             \
    "      --asks           the program is asked when a change of size is offered, and "           \
    "decides what\n"                                                                               \
    "                       it accepts\n"                                                          \
    "      --on-resize WAY  how a malleable program changes its size: merge (processes "           \
    "join and\n"                                                                                   \
    "                       leave), relaunch (all are started again, from the state "              \
    "kept in\n"                                                                                    \
    "                       memory, and the old ones end then), restart (the same, but the "       \
    "old\n"                                                                                        \
    "                       ones end first), auto (default)\n"                                     \
    "      --notice TIME    the time that the job has for a mandatory shrink. Then there is a\n"   \
    "                       warning, and after a grace the shrink is enforced (default: as\n"      \
    "                       configured)\n"                                                         \
    "      --lifetime TIME  policies keep a new size of the job for at least TIME "                \
    "(default: as\n"                                                                               \
    "                       configured)\n"                                                         \
    "      --runner KIND    auto, plain, mpi, malleable, folded, evolving (default: auto, which\n" \
    "                       looks at what the program is linked with)\n"                           \
    "      --mpi WHICH      the program's MPI: auto, openmpi, mpich, none (default: auto, "        \
    "the one\n"                                                                                    \
    "                       that it is linked with)\n"                                             \
    "      --name NAME      the job's name (default: the program's name)\n"                        \
    "      --site SITE      the site to run at (default: any)\n"                                   \
    "      --estimate TIME  how long the job will probably run: 90s, 15min, 1h30m "                \
    "(default: the\n"                                                                              \
    "                       time limit)\n"                                                         \
    "      --time-limit TIME  a run of the job is ended after TIME, and the job has failed "       \
    "then\n"                                                                                       \
    "                       (default: no limit)\n"                                                 \
    "      --signal [B:]SIG[@TIME]  the job gets the signal SIG TIME (default: 60s) before "       \
    "its time\n"                                                                                   \
    "                       limit: all its processes but the script, or with B: the script "       \
    "alone\n"                                                                                      \
    "      --memory SIZE    the memory that all processes together may use: 512M, 2G "             \
    "(units K, M,\n"                                                                               \
    "                       G, T). A job that uses more is ended, and fails\n"                     \
    "      --from FILE      the program goes on from a checkpoint ('pleat checkpoint'), which "    \
    "another\n"                                                                                    \
    "                       job wrote, with any number of processes and either MPI\n"              \
    "      --save EVERY     the program saves a copy of its data each time EVERY has passed: a\n"  \
    "                       duration (5min) or a number of iterations (100it); it goes on from\n"  \
    "                       the copy should its ranks die\n"                                       \
    "                       (default: off)\n"                                                      \
    "      --checkpoint-every TIME   a checkpoint is written each time TIME has passed\n"          \
    "      --checkpoint-keep N       the N newest of these files are kept (default: 2)\n"          \
    "      --checkpoint-before-limit TIME   a checkpoint is written TIME before the time "         \
    "limit\n"                                                                                      \
    "      --checkpoint-then WHAT    stop, go-on: what the job does after it (default: "           \
    "stop)\n"                                                                                      \
    "      --checkpoint-signal SIG   USR1, USR2: this signal to a process of the program asks "    \
    "for "                                                                                         \
    "one\n"                                                                                        \
    "      --checkpoint-dir DIR      where these files are (default: the job's directory)\n"       \
    "      --no-requeue     the job is never started again when it may have been started: "        \
    "if its\n"                                                                                     \
    "                       processors or its agent are lost, it fails\n"                          \
    "      --program NAME   what its program is called: jobs of the same name go by what earlier " \
    "ones\n"                                                                                       \
    "                       measured (default: jobs of the same command line)\n"                   \
    "      --one-node       all its processors are on one node, also those of an MPI program "     \
    "that\n"                                                                                       \
    "                       could be on several\n"                                                 \
    "      --sites A,B      with --evolving: processes that the program adds may be at these "     \
    "sites,\n"                                                                                     \
    "                       too, where it asks for that (default: at the job's own)\n"             \
    "      --any-site       with --sites: processes that the program adds without naming a "       \
    "site\n"                                                                                       \
    "                       may be at any of them, where a processor is first\n"                   \
    "      --priority N     jobs with higher numbers go first, if the order looks at "             \
    "priorities\n"                                                                                 \
    "                       (default: 0)\n"                                                        \
    "      --deadline WHEN  when the job should be done: 2h (after the submission), or 14:30\n"    \
    "      --begin WHEN     an advance reservation: the job starts at that time. Refused "         \
    "where its\n"                                                                                  \
    "                       processors are reserved already; needs --estimate or --time-limit\n"   \
    "      --array LIST     many jobs, one for each index: 0-9, 1-99:2, 1,4,7. With %4 "           \
    "behind the\n"                                                                                 \
    "                       list at most 4 of them at one time. Only with 'pleat submit'\n"        \
    "      --hold           the job does not start before 'pleat release'\n"                       \
    "      --dependency LIST  the job waits for other jobs: afterok:JOB (that JOB ends well),\n"   \
    "                       afternotok:JOB (ends otherwise), afterany:JOB (ends), after:JOB\n"     \
    "                       (starts), afterok:3:4 (several jobs), singleton (all older "           \
    "jobs of the\n"                                                                                \
    "                       same name). With ',' between conditions all must be met, with "        \
    "'?' one\n"                                                                                    \
    "      --chdir DIR      the directory to run in (default: the current directory)\n"            \
    "      --export WHICH   the variables of the environment that the job gets: all "              \
    "(default), none\n"                                                                            \
    "                       (only HOME, LOGNAME, PATH, SHELL, USER), or names of variables "       \
    "that\n"                                                                                       \
    "                       are added to these: A,B\n"                                             \
    "      --env NAME=VALUE sets a variable; may be repeated\n"                                    \
    "      --output FILE    the file for standard output. A relative path is taken from "          \
    "the job's\n"                                                                                  \
    "                       directory; %j stands for the job's number, %x for its name, %u "       \
    "for its\n"                                                                                    \
    "                       user, %A and %a for its array and index\n"                             \
    "      --error FILE     the same for standard error\n"                                         \
    "      --input FILE     the file for standard input\n"                                         \
    "      --stdin FILE     the same as --input\n"                                                 \
    "      --pty            the job has a terminal of its own, shown on this one: keys, "          \
    "Ctrl-C among\n"                                                                               \
    "                       them, go to the job (of an MPI program to rank 0). Only with "         \
    "'pleat run'\n"                                                                                \
    "      --wrap COMMAND   run COMMAND, a command line for the shell, instead of a program\n"     \
    "      --append         append output to these files (default: they are emptied when "         \
    "the job\n"                                                                                    \
    "                       first starts)\n"                                                       \
    "      --sbatch         lines #SBATCH of the script count, as far as they have an "            \
    "equivalent\n"                                                                                 \
    "      --notify COMMAND run COMMAND (with sh -c) when something happens to the job; "          \
    "PLEAT_EVENT\n"                                                                                \
    "                       says what\n"                                                           \
    "      --notify-on LIST at which events: start, end, fail, resize, warning (default: "         \
    "end,fail)\n"

#endif

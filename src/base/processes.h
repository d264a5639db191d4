/* processes.h - the variables by which a process of an evolving run finds its agent, and is found
 * by the others (docs/protocol.md, "Processes of evolving runs"). */
#ifndef PLEAT_BASE_PROCESSES_H
#define PLEAT_BASE_PROCESSES_H

#define PLEAT_PROCESS_ENV "PLEAT_PROCESS"               /* its number */
#define PLEAT_PROCESS_SOCKET_ENV "PLEAT_PROCESS_SOCKET" /* path of its agent's socket */
/* path of a file with the run's secret: 64 hexadecimal digits */
#define PLEAT_PROCESS_SECRET_ENV "PLEAT_PROCESS_SECRET"
#define PLEAT_PROCESS_SECRET_FD_ENV "PLEAT_PROCESS_SECRET_FD" /* or a descriptor of one */
/* the address at which others reach it; "ipc": all are on one host */
#define PLEAT_PROCESS_HOST_ENV "PLEAT_PROCESS_HOST"
#define PLEAT_PROCESS_DIR_ENV "PLEAT_PROCESS_DIR"   /* directory for its sockets there */
#define PLEAT_PROCESS_AWAY_ENV "PLEAT_PROCESS_AWAY" /* it is on another node than process 0 */
/* at another site than process 0: the address of that, which it tries before it says hello */
#define PLEAT_PROCESS_REACH_ENV "PLEAT_PROCESS_REACH"

/* in the name of a program: the architecture of the node where it is executed, as of `uname -m` */
#define PLEAT_PROCESS_ARCHITECTURE "%{architecture}"

/* in a wish, in the place of a site's name: any at which processes of the run may be; also in
 * pleat-process.h */
#define PLEAT_PROCESS_ANY_SITE "*"

#endif

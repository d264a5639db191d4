/* pmi.h - where the programs are that launchers are started with: pleat-pmi, which starts MPICH's
 * processes on one node, and pleat-remote, through which launchers start what they need on others.
 * It looks at files. */
#ifndef PLEAT_LAUNCH_PMI_H
#define PLEAT_LAUNCH_PMI_H

#include "launch/launch.h"

/* Writes the path of pleat-pmi, next to the running program. PLEAT_E_NOTFOUND, PLEAT_E_TOOBIG. */
int pleat_launch_pmi(char *path, size_t size, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same of pleat-remote. */
int pleat_launch_remote(char *path, size_t size, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

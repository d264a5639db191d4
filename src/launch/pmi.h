/* pmi.h - where pleat-pmi is, which starts MPICH's processes on one node. Looks at files. */
#ifndef PLEAT_LAUNCH_PMI_H
#define PLEAT_LAUNCH_PMI_H

#include "launch/launch.h"

/* The one beside the program that runs, as it was built or installed. PLEAT_E_NOTFOUND: there is
 * none; PLEAT_E_TOOBIG. */
int pleat_launch_pmi(char *path, size_t size, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

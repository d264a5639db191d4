#include "fold_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scratch.h"

#define COMMAND                                                                                    \
    "timeout 120 " BENCH_FOLD_RUN " --processes 1 --cpus 0 --contended no --out /dev/null -- "

#ifndef BENCH_CALL_MPICH /* there is no MPICH */
#define BENCH_CALL_MPICH "false"
#endif

/* One process alone on its processor, so that nothing is folded. */
static const char *const commands[TRIAL_MPIS] = {
    COMMAND "mpirun.openmpi --bind-to none --mca orte_tmpdir_base %s -n 1 " BENCH_CALL_OPENMPI,
    COMMAND "env TMPDIR=%s mpiexec.mpich -bind-to none -n 1 " BENCH_CALL_MPICH};

/* Lines "call NAME WRAPPED DIRECT LOW MORE HIGH" among whatever else is said. */
static void read_line(const char *line, struct fold_call *call)
{
    struct fold_call_kind *kind = &call->kinds[call->count];
    if (call->count < FOLD_CALL_KINDS &&
        sscanf(line, "call %15s %lf %lf %lf %lf %lf", kind->name, &kind->wrapped_ns,
               &kind->direct_ns, &kind->low_ns, &kind->ns, &kind->high_ns) == 6)
        call->count++;
}

void fold_call_measure(enum trial_mpi mpi, bool quick, struct fold_call *call)
{
    char line[1024];
    *call = (struct fold_call){.count = 0};
    if (!trial_has(mpi))
        return;
    (void)snprintf(line, sizeof(line), commands[mpi], scratch_directory());
    (void)strncat(line, quick ? " --blocks 10" : "", sizeof(line) - strlen(line) - 1);
    FILE *said = popen(line, "r");
    while (said && fgets(line, sizeof(line), said))
        read_line(line, call);
    if (!said || pclose(said) != 0 || call->count != FOLD_CALL_KINDS) {
        fprintf(stderr, "bench_fold: bench_call with %s failed\n", trial_mpi_name(mpi));
        trial_finish();
        exit(1);
    }
}

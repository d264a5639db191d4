/* members.c - members of `start` that only some kinds of runs have. */
#include "launch/launch.h"
#include "runner/agent_runner.h"

/* The queue until the detector has judged the program, unless its user says begin=. Utrera (2010,
 * 4.4.3) begins with a global queue, so that all processes get equal processor time while they are
 * judged. Measured with Open MPI, 8 processes on 2 processors, which yield while they wait: for a
 * balanced program global queues are up to 1.7 times as slow, for an unbalanced one local queues
 * 1.4 times. The verdict was the same from either queue (test_detector_begins_with_either_queue).
 */
static const char *first_queue(enum pleat_mpi mpi)
{
    return pleat_mpi_yields(mpi) ? "local" : "global";
}

json_t *pleat_runner_fold(const struct pleat_spec *spec, int32_t processes, struct pleat_error *err)
{
    const struct pleat_spec_fold *fold = &spec->fold;
    enum pleat_mpi mpi;
    if (pleat_mpi_parse(spec->mpi, &mpi, err))
        return NULL;
    json_t *member = json_pack("{s:i, s:s*, s:s*, s:s}", "processes", processes, "settings",
                               fold->settings, "mapping", fold->mapping, "begin", first_queue(mpi));
    if (!member || (fold->boost && json_object_set_new(member, "boost", json_true()))) {
        json_decref(member);
        pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
        return NULL;
    }
    return member;
}

/* The most that an agent takes for a maximum. A job without one of its own has PLEAT_SIZE_MAX: as
 * many as its site has. */
#define PROCESSES_MAX 65536

int pleat_runner_add_processes(const struct pleat_run_order *order, json_t *params,
                               struct pleat_error *err)
{
    if (order->node_count)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "a job whose processes ask for others starts on one node");
    if (order->apart || order->stdin_sent)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "its node does not see the files of the host where it was "
                               "submitted: a job whose processes ask for others cannot run there");
    int32_t most = order->spec->maximum < PROCESSES_MAX ? order->spec->maximum : PROCESSES_MAX;
    json_t *member =
        json_pack("{s:i, s:i, s:b}", "count", order->processes, "maximum",
                  most > order->processes ? most : order->processes, "nodes", order->roams);
    if (order->spec->sites && order->roams)
        (void)json_object_set_new(member, "sites", json_string(order->spec->sites));
    if (order->spec->any_site && order->roams)
        (void)json_object_set_new(member, "any_site", json_true());
    return member && !json_object_set_new(params, "processes", member)
               ? 0
               : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
}

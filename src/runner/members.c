/* members.c - members of `start` that only some kinds of runs have. */
#include "launch/launch.h"
#include "runner/agent_runner.h"

/* Takes `value`. Nonzero: there was no memory. */
static int set(json_t *object, const char *name, json_t *value)
{
    if (object && value)
        return json_object_set_new(object, name, value);
    json_decref(value);
    return PLEAT_E_NOMEM;
}

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

/* The slots of each process but the first, one by one. NULL: no memory. */
static json_t *other_slots(const struct pleat_run_order *order)
{
    json_t *slots = json_array();
    for (size_t i = 0; slots && i < order->slot_ranges; i++)
        for (uint32_t j = i == 0; j < order->slots[i].count; j++)
            if (json_array_append_new(slots, json_pack("{s:I, s:i}", "first",
                                                       (json_int_t)(order->slots[i].first + j),
                                                       "count", 1))) {
                json_decref(slots);
                return NULL;
            }
    return slots;
}

/* A member "processes": how many there are at the start, and how many there may be. The run is
 * bound to the slot of its first process. */
int pleat_runner_add_processes(const struct pleat_run_order *order, json_t *params,
                               struct pleat_error *err)
{
    json_t *member =
        json_pack("{s:i, s:i}", "count", order->processes, "maximum", order->spec->maximum);
    int bad = order->slot_ranges && set(member, "slots", other_slots(order));
    if (order->node_count)
        return json_decref(member),
               pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "a job whose processes ask for others starts on one node");
    if (order->apart || order->stdin_sent)
        return json_decref(member),
               pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "its node does not see the files of the host where it was "
                               "submitted: a job whose processes ask for others cannot run there");
    bad = bad ||
          (order->slot_ranges &&
           set(params, "slots",
               json_pack("[{s:I, s:i}]", "first", (json_int_t)order->slots[0].first, "count", 1)));
    bad = set(params, "processes", member) || bad;
    return bad ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory") : 0;
}

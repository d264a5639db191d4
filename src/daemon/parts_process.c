#include "daemon/parts_process.h"

#include <limits.h>
#include <stdio.h>

#include "daemon/agent_link.h"
#include "daemon/daemon.h"
#include "daemon/jobs.h"
#include "daemon/parts_inside.h"
#include "daemon/runs.h"
#include "daemon/slots.h"
#include "daemon/specs.h"

/* The piece of a claim of the part's component, if it is on its node. NULL: it is not, or not any
 * more. */
static const struct pleat_piece *piece_of(struct daemon *d, uint32_t component, uint64_t claim,
                                          const struct part *part)
{
    for (uint32_t i = 0; i < pleat_core_claim_count(d->core); i++) {
        const struct pleat_claim *c = pleat_core_claim(d->core, i);
        if (c->id != claim || c->component != component || c->site != part->site ||
            c->state != PLEAT_CLAIM_HELD || c->first_piece == PLEAT_NONE)
            continue;
        const struct pleat_piece *piece = pleat_core_piece(d->core, c->first_piece);
        return piece->node == part->node ? piece : NULL;
    }
    return NULL;
}

static int add_slot(struct daemon *d, uint32_t site, const struct pleat_piece *piece,
                    json_t *params)
{
    if (!slots_are_bound(d, site))
        return 0;
    json_t *slots = json_pack("[{s:I, s:i}]", "first", (json_int_t)piece->first, "count", 1);
    return json_object_set_new(params, "slots", slots);
}

/* Its directory is the job's, unless it has one of its own; where the nodes have none in common it
 * is one of its own node. */
static const char *directory_of(struct daemon *d, const struct part *part, const char *scratch)
{
    const struct pleat_component *c = component_of(d, run_component(d, part->run));
    bool apart =
        agent_is_apart(d, part->site, part->node) || agent_is_apart(d, c->site, c->lead_node);
    return apart ? scratch : json_string_value(json_object_get(part->wish, "cwd"));
}

static json_t *request_of(struct daemon *d, const struct part *part, const struct job *job,
                          const char *scratch)
{
    const struct pleat_spec *spec = job_spec(d, job->id);
    char number[32];
    snprintf(number, sizeof(number), "%lld", (long long)job->id);
    json_t *params =
        json_pack("{s:I, s:I, s:s, s:O, s:O, s:s, s:s, s:s, s:i, s:s, s:s*, s:O}", "run",
                  (json_int_t)part->there, "part", (json_int_t)part->number, "job", number, "argv",
                  json_object_get(part->wish, "argv"), "env", json_object_get(part->wish, "env"),
                  "cwd", directory_of(d, part, scratch), "stdout", "/dev/null", "stderr",
                  "/dev/null", "umask", (int)spec->umask, "scratch", scratch, "limits",
                  spec->limits, "process", json_object_get(part->wish, "process"));
    if (params && spec->nice != PLEAT_SPEC_NICE_HERE)
        json_object_set_new(params, "nice", json_integer(spec->nice));
    if (params && spec->memory_limit_kb)
        json_object_set_new(params, "memory_limit_kb", json_integer(spec->memory_limit_kb));
    return params;
}

int part_process_start(struct daemon *d, const struct part *part, struct pleat_error *err)
{
    char scratch[PATH_MAX];
    uint32_t component = run_component(d, part->run);
    const struct job *job = job_of_component(d, component);
    uint64_t claim = (uint64_t)part_number_in(part->wish, "claim");
    if (!job)
        return pleat_error_set(err, PLEAT_E_STATE, "the job is over");
    if (!agent_knows(d, part->site, part->node, PLEAT_FEATURE_ROAMS) || part->there == part->run)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "the agent of node %u was started before Pleat was upgraded, and "
                               "starts no process for a job that another node leads",
                               part->node);
    const struct pleat_piece *piece = piece_of(d, component, claim, part);
    if (!piece)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "the job has no processor on node %u any more that is for it",
                               part->node);
    agent_scratch(d, part->site, part->node, part->there, scratch, sizeof(scratch));
    json_t *params = request_of(d, part, job, scratch);
    if (!params || add_slot(d, part->site, piece, params)) {
        json_decref(params);
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    return agent_send(d, part->site, part->node, "start", params, err);
}

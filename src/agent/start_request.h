/* start_request.h - the request `start`, as it is read. */
#ifndef PLEAT_AGENT_START_REQUEST_H
#define PLEAT_AGENT_START_REQUEST_H

#include "agent/evolve.h"
#include "agent/far.h"
#include "agent/folded.h"
#include "agent/run.h"

/* The request and the parts to which it refers. All else is borrowed from params. */
struct pleat_start_request {
    struct pleat_run_request run;
    struct pleat_folded_request folded;
    struct pleat_evolve_request evolves;
    struct pleat_far_request far;
    struct pleat_limits limits;
};

/* PLEAT_E_INVALID. PLEAT_E_UNSUPPORTED: members that do not go together. */
int pleat_start_request_read(const json_t *params, struct pleat_start_request *request,
                             struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

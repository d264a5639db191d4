#include "gridengine/queue.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gridengine/ask.h"
#include "gridengine/state.h"
#include "gridengine/xml.h"
#include "wire/reply.h"

/* Whether an instance ("all.q@g1") is of this queue; NULL: any. */
static bool is_of(const char *instance, const char *queue)
{
    size_t length = queue ? strlen(queue) : 0;
    return !queue || (!strncmp(instance, queue, length) && instance[length] == '@');
}

/* The most processors that an instance of the queue has left. -1: none takes jobs. *all: what all
 * have left. */
static int64_t most_free(const json_t *root, const char *wanted, int64_t *all)
{
    int64_t most = -1;
    *all = 0;
    size_t i, k;
    const json_t *list, *queue;
    json_array_foreach(pleat_xml_elements(root), i, list)
    {
        json_array_foreach(pleat_xml_elements(list), k, queue)
        {
            int64_t total, used, reserved;
            if (!pleat_xml_is(queue, "Queue-List") ||
                !is_of(pleat_xml_text(queue, "name"), wanted) ||
                *pleat_gridengine_instance(pleat_xml_text(queue, "state")) ||
                !pleat_adapter_is_number(pleat_xml_text(queue, "slots_total"), &total) ||
                !pleat_adapter_is_number(pleat_xml_text(queue, "slots_used"), &used))
                continue;
            if (!pleat_adapter_is_number(pleat_xml_text(queue, "slots_resv"), &reserved))
                reserved = 0;
            int64_t left = total > used + reserved ? total - used - reserved : 0;
            most = left > most ? left : most;
            *all += left;
        }
    }
    return most;
}

/* The reason of a job that waits for `slots`; `first`: no other one stands before it. */
static const char *reason_of(int64_t most, int64_t slots, bool first)
{
    if (most < 0)
        return "Down";
    if (!first)
        return "Priority";
    return most < slots ? "Resources" : "Scheduling";
}

static void set_reason(json_t *jobs, int64_t number, const char *reason)
{
    size_t i;
    json_t *job;
    json_array_foreach(jobs, i, job)
    {
        if (pleat_reply_int(job, "job", 0) == number && pleat_reply_is(job, "reason", "?"))
            json_object_set_new(job, "reason", json_string(reason));
    }
}

/* The rows are in the order in which the scheduler takes them. */
void pleat_gridengine_explain(json_t *jobs, const json_t *root)
{
    int64_t all, most = most_free(root, NULL, &all);
    bool first = true;
    size_t i, k;
    const json_t *list, *row;
    json_array_foreach(pleat_xml_elements(root), i, list)
    {
        json_array_foreach(pleat_xml_elements(list), k, row)
        {
            int64_t number, slots;
            const char *reason;
            if (!pleat_xml_is(row, "job_list") ||
                !pleat_adapter_is_number(pleat_xml_text(row, "JB_job_number"), &number))
                continue;
            pleat_gridengine_state(pleat_xml_text(row, "state"), &reason);
            if (strcmp(reason, "?") != 0)
                continue; /* it is held, and so in no job's way */
            if (!pleat_adapter_is_number(pleat_xml_text(row, "slots"), &slots))
                slots = 1;
            set_reason(jobs, number, reason_of(most, slots, first));
            first = false;
        }
    }
}

static const char *const ask_queue[] = {"qstat", "-xml", "-f", "-s", "p", "-u", "*", NULL};

int pleat_gridengine_free(const char *queue, int64_t *most, int64_t *all, struct pleat_error *err)
{
    json_t *root;
    int failure = pleat_gridengine_ask_xml(ask_queue, &root, err);
    if (failure)
        return failure;
    *most = most_free(root, queue, all);
    *most = *most > 0 ? *most : 0;
    json_decref(root);
    return 0;
}

int pleat_gridengine_say_why(json_t *jobs, struct pleat_error *err)
{
    bool one_waits = false;
    size_t i;
    json_t *job, *root;
    json_array_foreach(jobs, i, job) one_waits = one_waits || pleat_reply_is(job, "reason", "?");
    int failure = one_waits ? pleat_gridengine_ask_xml(ask_queue, &root, err) : 0;
    if (!failure && one_waits) {
        pleat_gridengine_explain(jobs, root);
        json_decref(root);
    }
    json_array_foreach(jobs, i, job)
    {
        if (pleat_reply_is(job, "reason", "?")) /* it has left the queue meanwhile */
            json_object_set_new(job, "reason", json_string("Scheduling"));
    }
    return failure;
}

#include "gridengine_fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "gridengine/ask_cluster.h"
#include "gridengine/jobs.h"
#include "gridengine/queue.h"
#include "gridengine/state.h"
#include "gridengine/xml.h"
#include "must.h"
#include "wire/reply.h"

unsigned long pleat_fuzz_gridengine_documents;

static void check_jobs(json_t *root)
{
    json_t *jobs = pleat_gridengine_jobs_of(root), *job;
    size_t i;
    pleat_gridengine_explain(jobs, root);
    json_array_foreach(jobs, i, job)
    {
        bool runs = pleat_reply_is(job, "state", "running");
        must(pleat_reply_int(job, "job", 0) >= 1 && pleat_reply_int(job, "job", 0) <= 9999999);
        must(json_is_string(json_object_get(job, "name")));
        must(runs || pleat_reply_is(job, "state", "pending") ||
             pleat_reply_is(job, "state", "ended"));
        must(runs || pleat_reply_is(job, "reason", PLEAT_GRIDENGINE_STARTING) ||
             json_array_size(json_object_get(job, "nodes")) == 0);
    }
    json_decref(jobs);
}

static void check_nodes(const json_t *root)
{
    json_t *nodes = pleat_gridengine_nodes_of(root), *node;
    size_t i;
    json_array_foreach(nodes, i, node)
    {
        must(json_is_string(json_object_get(node, "name")));
        must(pleat_reply_int(node, "memory_mb", -1) >= 0);
    }
    json_decref(nodes);
}

void pleat_fuzz_gridengine(const uint8_t *data, size_t size)
{
    struct pleat_error err = {0};
    json_t *root;
    char *text = malloc(size + 1);
    must(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;
    if (pleat_xml_read(text, &root, &err)) {
        must(err.code == PLEAT_E_PROTOCOL && err.text[0] && !root);
    } else {
        pleat_fuzz_gridengine_documents++;
        check_jobs(root);
        check_nodes(root);
        json_decref(root);
    }
    free(text);
}

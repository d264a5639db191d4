#include <stdio.h>
#include <string.h>

#include "daemon/jobs.h"

/* Adds what one node's agent said to the sum of all. */
static void add_node(json_t *sum, const json_t *one)
{
    static const char *const counts[] = {"processes",  "attached",  "refused",
                                         "processors", "contended", "switches"};
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
        json_object_set_new(sum, counts[i],
                            json_integer(json_integer_value(json_object_get(sum, counts[i])) +
                                         json_integer_value(json_object_get(one, counts[i]))));
    json_object_set_new(sum, "useful_s",
                        json_real(json_real_value(json_object_get(sum, "useful_s")) +
                                  json_real_value(json_object_get(one, "useful_s"))));
    if (json_is_true(json_object_get(one, "begun")))
        json_object_set_new(sum, "begun", json_true());
    if (json_integer_value(json_object_get(one, "mpl")) >
        json_integer_value(json_object_get(sum, "mpl")))
        json_object_set(sum, "mpl", json_object_get(one, "mpl"));
}

/* What all nodes have said. Each is judged by itself, so of what is no number that of the node that
 * told first is given. No node knows how fast all of it is. */
static json_t *sum_of(const json_t *nodes)
{
    json_t *sum = NULL, *list = json_array(), *one;
    const char *key;
    if (json_object_size(nodes) < 2) {
        json_decref(list);
        json_object_foreach((json_t *)(uintptr_t)nodes, key, one) return json_deep_copy(one);
        return NULL;
    }
    json_object_foreach((json_t *)(uintptr_t)nodes, key, one)
    {
        json_t *copy = json_deep_copy(one);
        if (sum)
            add_node(sum, one);
        else
            sum = json_deep_copy(one);
        json_object_set_new(copy, "node", json_integer(strtoll(key, NULL, 10)));
        json_array_append_new(list, copy);
    }
    static const char *const unknown[] = {"rate", "change_us", "cpus"};
    for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
        json_object_set_new(sum, unknown[i], json_null());
    json_object_set_new(sum, "nodes", list);
    return sum;
}

void job_folded_take(struct job *job, uint64_t run, uint32_t node, const json_t *params)
{
    char key[16];
    if (run < job->folded_run)
        return; /* of a run before */
    if (run != job->folded_run || !job->folded_nodes) {
        json_decref(job->folded_nodes);
        job->folded_nodes = json_object();
    }
    job->folded_run = run;
    json_t *own = json_deep_copy(params);
    json_object_del(own, "run");
    snprintf(key, sizeof(key), "%u", node);
    json_object_set_new(job->folded_nodes, key, own);
    json_decref(job->folded);
    job->folded = sum_of(job->folded_nodes);
}

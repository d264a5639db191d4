/* The master of flow: how many processes there are, and which roots each of them has. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

/* The sums of all roots, added up in their order. */
static void gather(struct flow *flow, struct root_sums *sums)
{
    struct buffer buffer = {0};
    double mass = 0, energy = 0;
    for (int32_t m = 0; m < flow->chart.staying; m++) {
        int32_t member = flow->chart.members[m];
        if (member == 0)
            continue;
        flow_take(flow, member, SUMS, &buffer);
        for (size_t at = 0; at < buffer.count; at += sizeof(*sums)) {
            struct root_sums one;
            memcpy(&one, buffer.bytes + at, sizeof(one));
            if (one.root < 0 || one.root >= flow->roots)
                flow_fail("process %d has a root that there is not", member);
            sums[one.root] = one;
        }
    }
    for (int32_t root = 0; root < flow->roots; root++)
        if (is_here(flow, root))
            sums[root] = graph_sums(&flow->graph, root);
    flow->cells = 0;
    flow->hash = 0;
    for (int32_t root = 0; root < flow->roots; root++) {
        mass += sums[root].mass;
        energy += sums[root].energy;
        flow->cells += sums[root].cells;
        flow->hash = flow->hash * 31 + sums[root].hash;
    }
    if (flow->mass == 0) {
        flow->mass = mass;
        flow->energy = energy;
    }
    if (fabs(mass / flow->mass - 1) > 1e-11 || fabs(energy / flow->energy - 1) > 1e-11)
        flow_fail("iteration %d: mass or energy is lost: %.15g of %.15g, %.15g of %.15g",
                  flow->iteration, mass, flow->mass, energy, flow->energy);
    free(buffer.bytes);
}

static void join_member(struct flow *flow, int32_t process)
{
    flow->members[flow->member_count++] = process;
    if (flow->member_count > flow->most_members)
        flow->most_members = flow->member_count;
}

static void forget_coming(struct flow *flow, int32_t process)
{
    for (int32_t i = 0; i < flow->coming_count; i++)
        if (flow->coming[i] == process)
            flow->coming[i--] = flow->coming[--flow->coming_count];
}

static bool is_known(const struct flow *flow, int32_t process)
{
    for (int32_t m = 0; m < flow->member_count; m++)
        if (flow->members[m] == process)
            return true;
    return process == flow->leaving;
}

/* Processes that have come, or are gone. One whose request was withdrawn when it was about to come
 * is stopped. */
static void read_notices(struct flow *flow)
{
    struct pleat_process_news notice;
    struct pleat_error err;
    while (pleat_process_notice(flow->processes, &notice)) {
        bool waited = false;
        for (int32_t i = 0; i < flow->coming_count; i++)
            waited |= flow->coming[i] == notice.process;
        if (waited)
            forget_coming(flow, notice.process);
        if (waited && notice.news == PLEAT_PROCESS_NEWS_CAME) {
            join_member(flow, notice.process);
        } else if (notice.news == PLEAT_PROCESS_NEWS_CAME && !is_known(flow, notice.process)) {
            int rc = pleat_process_stop(flow->processes, notice.process, &err);
            if (rc != PLEAT_E_CLOSED)
                flow_check(rc, &err);
        }
        for (int32_t m = 0; notice.news == PLEAT_PROCESS_NEWS_GONE && m < flow->member_count; m++)
            if (flow->members[m] == notice.process)
                flow_fail("process %d is gone with its cells (code %d, signal %d)", notice.process,
                          notice.code, notice.signal);
    }
}

static void add_one(struct flow *flow)
{
    struct pleat_error err;
    int32_t process;
    int rc = pleat_process_add(flow->processes, NULL, &process, &err);
    if (rc == PLEAT_E_UNSUPPORTED) {
        flow->alone = true;
        return;
    }
    if (rc == PLEAT_E_BUSY)
        return; /* asked again after the next adaptation */
    flow_check(rc, &err);
    flow->added++;
    if (rc == PLEAT_PROCESS_ADDED_READY) {
        flow->at_once++;
        join_member(flow, process);
    } else {
        flow->coming[flow->coming_count++] = process;
    }
}

/* As many processes as the cells want are asked for; those too many are stopped, one at a time. */
static void adjust(struct flow *flow)
{
    struct pleat_error err;
    int32_t objects = flow->options.objects, maximum = pleat_process_maximum(flow->processes);
    int32_t wanted = (flow->cells + objects - 1) / objects;
    if (maximum > 0 && wanted > maximum)
        wanted = maximum;
    if (wanted > MEMBERS_MAX)
        wanted = MEMBERS_MAX;
    if (flow->leaving != PLEAT_PROCESS_NONE) {
        int rc = pleat_process_stop(flow->processes, flow->leaving, &err);
        if (rc != PLEAT_E_CLOSED)
            flow_check(rc, &err);
        flow->stopped++;
        flow->leaving = PLEAT_PROCESS_NONE;
    }
    read_notices(flow);
    if (flow->log)
        fprintf(flow->log, "%d %d %d %d\n", flow->iteration, flow->cells, wanted,
                flow->member_count);
    for (int32_t i = flow->member_count + flow->coming_count; i < wanted && !flow->alone; i++)
        add_one(flow);
    while (flow->coming_count && flow->member_count + flow->coming_count > wanted) {
        int32_t last = flow->coming[flow->coming_count - 1];
        int rc = pleat_process_cancel(flow->processes, last, &err);
        if (rc == PLEAT_E_STATE)
            break; /* it has just come: the next notice */
        flow_check(rc, &err);
        forget_coming(flow, last);
    }
    /* one that would be wanted again at once is kept */
    if (flow->member_count > wanted && flow->member_count > 1 &&
        flow->cells < (int64_t)(flow->member_count - 1) * objects * 9 / 10)
        flow->leaving = flow->members[--flow->member_count];
}

/* Roots are dealt out in their order, about as many cells to each process. */
static void deal(struct flow *flow, const struct root_sums *sums)
{
    struct chart *chart = &flow->chart;
    int32_t before[ROOTS_MAX], dealt = 0;
    memcpy(before, flow->owners, sizeof(before));
    memcpy(chart->members, flow->members, sizeof(chart->members));
    chart->member_count = chart->staying = flow->member_count;
    if (flow->leaving != PLEAT_PROCESS_NONE)
        chart->members[chart->member_count++] = flow->leaving;
    for (int32_t root = 0; root < flow->roots; root++) {
        int64_t place = ((int64_t)dealt + sums[root].cells / 2) * flow->member_count / flow->cells;
        chart->now[root] = (int16_t)(place < flow->member_count ? place : flow->member_count - 1);
        dealt += sums[root].cells;
        for (int32_t m = 0; m < chart->member_count; m++)
            if (chart->members[m] == before[root])
                chart->before[root] = (int16_t)m;
    }
    chart->options = flow->options;
    chart->iteration = flow->iteration;
    chart->done = flow->iteration >= flow->options.iterations;
}

void flow_direct(struct flow *flow)
{
    static struct root_sums sums[ROOTS_MAX];
    gather(flow, sums);
    if (flow->iteration < flow->options.iterations)
        adjust(flow);
    deal(flow, sums);
    for (int32_t m = 0; m < flow->chart.member_count; m++)
        if (flow->chart.members[m] != 0)
            flow_send(flow, flow->chart.members[m], CHART, &flow->chart, sizeof(flow->chart));
}

void flow_begin(struct flow *flow)
{
    for (int32_t root = 0; root < flow->roots; root++)
        flow_need(graph_fill(&flow->graph, root));
    flow_need(graph_wall_between(&flow->graph));
    flow->chart.member_count = flow->chart.staying = 1; /* itself */
    join_member(flow, 0);
    /* others that are there from the start are found as those that come later */
    int32_t list[MEMBERS_MAX];
    int count = pleat_process_list(flow->processes, list, MEMBERS_MAX);
    for (int i = 0; i < count && i < MEMBERS_MAX; i++)
        if (list[i] != 0)
            join_member(flow, list[i]);
}

/* The same by one process, without a word to others: what has to come out. */
static uint64_t alone_hash(const struct options *options)
{
    struct graph graph;
    uint64_t hash = 0;
    int32_t roots = options->columns * options->rows;
    flow_need(graph_create(&graph, options->columns, options->rows));
    for (int32_t root = 0; root < roots; root++)
        flow_need(graph_fill(&graph, root));
    flow_need(graph_wall_between(&graph));
    for (int32_t i = 1; i <= options->iterations; i++) {
        graph_advance(&graph);
        if (i % options->every == 0 || i == options->iterations)
            flow_need(graph_adapt(&graph) && graph_wall_between(&graph));
    }
    for (int32_t root = 0; root < roots; root++)
        hash = hash * 31 + graph_sums(&graph, root).hash;
    graph_destroy(&graph);
    return hash;
}

int flow_report(const struct flow *flow)
{
    bool same = alone_hash(&flow->options) == flow->hash;
    printf("processes: %d at most; %d asked for, %d of them there at once; %d stopped\n",
           flow->most_members, flow->added, flow->at_once, flow->stopped);
    printf("RESULT %s cells=%d hash=%016llx\n", same ? "ok" : "wrong", flow->cells,
           (unsigned long long)flow->hash);
    return same ? 0 : 1;
}

/* flow [options] - a charge explodes in a box with a hump, and the waves go to and fro: the gas is
 * computed with small cells where it changes much, with large ones elsewhere (graph.h). So the
 * program needs more and more processors, and then fewer: it asks for processes itself, gives them
 * roots of the graph with all their cells, and takes these back before it stops them.
 *
 * Process 0 is the master: every few iterations it is told how many cells there are, decides who
 * has which roots, and adds and stops processes. All others learn what they need from it and from
 * their neighbours. */
#include "flow.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void send_sums(struct flow *flow)
{
    static struct root_sums sums[ROOTS_MAX];
    int32_t count = 0;
    for (int32_t root = 0; root < flow->roots; root++)
        if (is_here(flow, root))
            sums[count++] = graph_sums(&flow->graph, root);
    flow_send(flow, 0, SUMS, sums, (size_t)count * sizeof(*sums));
}

static void take_chart(struct flow *flow)
{
    struct buffer buffer = {0};
    if (flow_take(flow, 0, CHART, &buffer) != sizeof(flow->chart))
        flow_fail("the chart makes no sense");
    memcpy(&flow->chart, buffer.bytes, sizeof(flow->chart));
    flow->options = flow->chart.options;
    flow->iteration = flow->chart.iteration;
    free(buffer.bytes);
}

static bool is_member(const struct flow *flow)
{
    for (int32_t m = 0; m < flow->chart.staying; m++)
        if (flow->chart.members[m] == flow->self)
            return true;
    return false;
}

/* One that is no member waits to be stopped, or to become one. */
static bool has_to_leave(struct flow *flow)
{
    struct pleat_error err;
    while (!pleat_process_leaving(flow->processes)) {
        struct pleat_process_message message;
        struct pleat_process_news notice;
        int rc = pleat_process_probe(flow->processes, 0, CHART, &message, 20, &err);
        if (rc == PLEAT_E_CLOSED)
            return true;
        flow_check(rc, &err);
        if (rc == PLEAT_PROCESS_DONE)
            return false;
        while (pleat_process_notice(flow->processes, &notice))
            ;
    }
    return true;
}

/* Every few iterations: other sizes of cells, other owners, other processes. False: it is over. */
static bool adapt(struct flow *flow)
{
    flow_exchange_values(flow);
    flow_need(graph_adapt(&flow->graph));
    if (flow->self == 0) {
        flow_direct(flow);
    } else {
        send_sums(flow);
        take_chart(flow);
    }
    flow_migrate(flow);
    if (flow->chart.done)
        return false;
    flow_exchange_edges(flow);
    return true;
}

static void compute(struct flow *flow)
{
    int64_t cells = 0;
    flow_exchange_values(flow);
    graph_advance(&flow->graph);
    for (int32_t root = 0; root < flow->roots; root++)
        cells += is_here(flow, root) ? flow->graph.roots[root].count : 0;
    int64_t ns = cells * flow->options.cell_us * 1000;
    struct timespec pause = {ns / 1000000000, ns % 1000000000};
    if (ns > 0)
        nanosleep(&pause, NULL);
    flow->iteration++;
    if (flow->self == 0)
        pleat_process_iteration(flow->processes, flow->iteration);
}

static void run(struct flow *flow)
{
    bool goes_on = true;
    while (goes_on) {
        if (!is_member(flow)) {
            if (has_to_leave(flow))
                return;
            take_chart(flow);
            flow_migrate(flow);
            flow_exchange_edges(flow);
        }
        compute(flow);
        if (flow->iteration % flow->options.every == 0 ||
            flow->iteration >= flow->options.iterations)
            goes_on = adapt(flow);
    }
}

static void usage(FILE *file)
{
    fputs("usage: flow [options]\n"
          "  -i, --iterations N  (1200)\n"
          "  -s, --size C,R      the box has C x R squares of a coarse grid (24,8)\n"
          "  -e, --every N       iterations from one adaptation to the next (4)\n"
          "  -o, --objects N     cells that a process should have (600)\n"
          "  -p, --pretend US    each cell takes US microseconds more in an iteration (0)\n"
          "  -l, --log FILE      lines 'iteration cells processes-wanted processes-had'\n"
          "Run by `pleat run --evolving --max N flow`, or alone.\n",
          file);
}

static _Noreturn void refuse(const char *what, const char *text, int32_t least, int32_t most)
{
    fprintf(stderr, "flow: %s: '%s' is not a number from %d to %d (see --help)\n", what, text,
            least, most);
    exit(2);
}

static int32_t number(const char *what, const char *text, int32_t least, int32_t most)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*end || end == text || value < least || value > most)
        refuse(what, text, least, most);
    return (int32_t)value;
}

static void read_options(int argc, char **argv, struct options *options, const char **log)
{
    static const struct option known[] = {{"iterations", required_argument, NULL, 'i'},
                                          {"size", required_argument, NULL, 's'},
                                          {"every", required_argument, NULL, 'e'},
                                          {"objects", required_argument, NULL, 'o'},
                                          {"pretend", required_argument, NULL, 'p'},
                                          {"log", required_argument, NULL, 'l'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    *options = (struct options){24, 8, 1200, 4, 600, 0};
    for (int c; (c = getopt_long(argc, argv, "i:s:e:o:p:l:h", known, NULL)) != -1;)
        switch (c) {
        case 'i':
            options->iterations = number("--iterations", optarg, 1, 100000000);
            break;
        case 's':
            if (sscanf(optarg, "%d,%d", &options->columns, &options->rows) != 2 ||
                options->columns < 4 || options->rows < 4 || options->columns > 256 ||
                options->rows > 256 || options->columns * options->rows > ROOTS_MAX) {
                fprintf(stderr,
                        "flow: --size: '%s' is not C,R, both at least 4, of at most %d squares "
                        "together (see --help)\n",
                        optarg, ROOTS_MAX);
                exit(2);
            }
            break;
        case 'e':
            options->every = number("--every", optarg, 1, 1000000);
            break;
        case 'o':
            options->objects = number("--objects", optarg, 1, 1000000000);
            break;
        case 'p':
            options->cell_us = number("--pretend", optarg, 0, 1000000);
            break;
        case 'l':
            *log = optarg;
            break;
        case 'h':
            usage(stdout);
            exit(0);
        default:
            usage(stderr);
            exit(2);
        }
    if (optind < argc) {
        usage(stderr);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    static struct flow flow = {.leaving = PLEAT_PROCESS_NONE};
    struct pleat_error err;
    const char *log = NULL;
    read_options(argc, argv, &flow.options, &log);
    int what = pleat_processes_begin(&flow.processes, NULL, &err);
    flow_check(what, &err);
    flow.self = pleat_process_self(flow.processes);
    flow.roots = flow.options.columns * flow.options.rows;
    if (what != PLEAT_PROCESS_LEAVE) {
        flow_need(graph_create(&flow.graph, flow.options.columns, flow.options.rows));
        if (flow.self == 0)
            flow_begin(&flow);
        if (flow.self == 0 && log && !(flow.log = fopen(log, "w")))
            flow_fail("cannot write %s", log);
        if (flow.self != 0)
            memset(flow.owners, 0xff, sizeof(flow.owners));
        run(&flow);
        graph_destroy(&flow.graph);
    }
    if (flow.log && fclose(flow.log))
        flow_fail("cannot write %s", log);
    int status = flow.self == 0 ? flow_report(&flow) : 0;
    flow_check(pleat_processes_finish(flow.processes, &err), &err);
    return status;
}

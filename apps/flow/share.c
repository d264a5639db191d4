/* Messages between the processes of flow: what neighbours see of one another, and roots that
 * migrate. */
#include "flow.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { WAIT_MS = 60000 };

_Noreturn void flow_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("flow: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

void flow_check(int rc, const struct pleat_error *err)
{
    if (rc < 0)
        flow_fail("%s", err->text);
}

void flow_need(bool had_memory)
{
    if (!had_memory)
        flow_fail("out of memory");
}

/* ---- messages ---- */

static void put(struct buffer *buffer, const void *bytes, size_t count)
{
    if (buffer->count + count > buffer->room) {
        buffer->room = 2 * (buffer->count + count);
        buffer->bytes = realloc(buffer->bytes, buffer->room);
        flow_need(buffer->bytes != NULL);
    }
    memcpy(buffer->bytes + buffer->count, bytes, count);
    buffer->count += count;
}

void flow_send(struct flow *flow, int32_t to, int32_t type, const void *bytes, size_t count)
{
    struct pleat_error err;
    int rc = pleat_process_send(flow->processes, to, type, bytes, count, WAIT_MS, &err);
    flow_check(rc, &err);
    if (rc == PLEAT_PROCESS_FULL)
        flow_fail("process %d takes no messages", to);
}

size_t flow_take(struct flow *flow, int32_t from, int32_t type, struct buffer *buffer)
{
    struct pleat_error err;
    struct pleat_process_message message;
    int rc = pleat_process_probe(flow->processes, from, type, &message, WAIT_MS, &err);
    flow_check(rc, &err);
    if (rc == PLEAT_PROCESS_NOTHING)
        flow_fail("process %d sends nothing", from);
    buffer->count = 0;
    if (buffer->room < message.bytes) {
        buffer->room = 2 * message.bytes;
        buffer->bytes = realloc(buffer->bytes, buffer->room);
        flow_need(buffer->bytes != NULL);
    }
    flow_check(pleat_process_receive(flow->processes, from, type, buffer->bytes, buffer->room,
                                     &message, 0, &err),
               &err);
    buffer->count = message.bytes;
    return message.bytes;
}

/* ---- neighbours ---- */

/* Does a cell of a root of one process touch a root of another one? */
static bool is_shared(const struct flow *flow, const struct cell *cell, int32_t with)
{
    int32_t x = cell->x % GRAPH_SIDE, y = cell->y % GRAPH_SIDE;
    const bool at[4] = {x == 0, x + cell->side == GRAPH_SIDE, y == 0, y + cell->side == GRAPH_SIDE};
    for (int side = 0; side < 4; side++) {
        int32_t other = at[side] ? graph_neighbour(&flow->graph, cell->root, side) : -1;
        if (other >= 0 && flow->owners[other] == with)
            return true;
    }
    return false;
}

/* The cells of one process that another one needs stand-ins of, in an order that both know. */
static void put_shared(const struct flow *flow, int32_t of, int32_t with, struct buffer *buffer,
                       int type)
{
    buffer->count = 0;
    for (int32_t root = 0; root < flow->roots; root++)
        for (int32_t i = 0; flow->owners[root] == of && i < flow->graph.roots[root].count; i++) {
            const struct cell *cell = flow->graph.roots[root].cells[i];
            struct packed_cell packed = graph_pack(cell);
            if (!is_shared(flow, cell, with))
                continue;
            if (type == EDGES)
                put(buffer, &packed, sizeof(packed));
            else
                put(buffer, cell->values, sizeof(cell->values));
        }
}

static bool are_neighbours(const struct flow *flow, int32_t other)
{
    for (int32_t root = 0; root < flow->roots; root++)
        for (int side = 0; is_here(flow, root) && side < 4; side++) {
            int32_t at = graph_neighbour(&flow->graph, root, side);
            if (at >= 0 && flow->owners[at] == other)
                return true;
        }
    return false;
}

static void send_shared(struct flow *flow, int type, struct buffer *buffer)
{
    for (int32_t m = 0; m < flow->chart.member_count; m++) {
        int32_t other = flow->chart.members[m];
        if (other == flow->self || !are_neighbours(flow, other))
            continue;
        put_shared(flow, flow->self, other, buffer, type);
        flow_send(flow, other, type, buffer->bytes, buffer->count);
    }
}

void flow_exchange_values(struct flow *flow)
{
    struct buffer buffer = {0};
    send_shared(flow, VALUES, &buffer);
    for (int32_t m = 0; m < flow->chart.member_count; m++) {
        int32_t other = flow->chart.members[m];
        size_t at = 0;
        if (other == flow->self || !are_neighbours(flow, other))
            continue;
        flow_take(flow, other, VALUES, &buffer);
        for (int32_t root = 0; root < flow->roots; root++)
            for (int32_t i = 0; flow->owners[root] == other && i < flow->graph.roots[root].count;
                 i++) {
                struct cell *cell = flow->graph.roots[root].cells[i];
                if (at + sizeof(cell->values) > buffer.count)
                    flow_fail("process %d sends too few values", other);
                memcpy(cell->values, buffer.bytes + at, sizeof(cell->values));
                at += sizeof(cell->values);
            }
        if (at != buffer.count)
            flow_fail("process %d sends too many values", other);
    }
    free(buffer.bytes);
}

static void add_cells(struct flow *flow, const struct buffer *buffer, int32_t from)
{
    for (size_t at = 0; at < buffer->count; at += sizeof(struct packed_cell)) {
        struct packed_cell packed;
        memcpy(&packed, buffer->bytes + at, sizeof(packed));
        if (packed.root < 0 || packed.root >= flow->roots)
            flow_fail("process %d sends a cell of nowhere", from);
        flow_need(graph_add(&flow->graph, &packed));
    }
}

void flow_exchange_edges(struct flow *flow)
{
    struct buffer buffer = {0};
    for (int32_t root = 0; root < flow->roots; root++)
        if (!is_here(flow, root))
            graph_drop(&flow->graph, root);
    send_shared(flow, EDGES, &buffer);
    for (int32_t m = 0; m < flow->chart.member_count; m++) {
        int32_t other = flow->chart.members[m];
        if (other == flow->self || !are_neighbours(flow, other))
            continue;
        flow_take(flow, other, EDGES, &buffer);
        add_cells(flow, &buffer, other);
    }
    flow_need(graph_wall_between(&flow->graph));
    free(buffer.bytes);
}

/* ---- who has what ---- */

void flow_migrate(struct flow *flow)
{
    const struct chart *chart = &flow->chart;
    struct buffer buffer = {0};
    for (int32_t m = 0; m < chart->member_count; m++) {
        buffer.count = 0;
        for (int32_t root = 0; root < flow->roots && chart->members[m] != flow->self; root++) {
            struct root *of = &flow->graph.roots[root];
            if (!of->here || chart->now[root] != m)
                continue;
            for (int32_t i = 0; i < of->count; i++) {
                struct packed_cell packed = graph_pack(of->cells[i]);
                put(&buffer, &packed, sizeof(packed));
            }
            graph_drop(&flow->graph, root);
        }
        if (buffer.count)
            flow_send(flow, chart->members[m], ROOTS, buffer.bytes, buffer.count);
    }
    for (int32_t root = 0; root < flow->roots; root++)
        flow->owners[root] = chart->members[chart->now[root]];
    for (int32_t m = 0; m < chart->member_count; m++) {
        bool sends = false;
        for (int32_t root = 0; root < flow->roots && chart->members[m] != flow->self; root++) {
            bool comes = chart->before[root] == m && is_here(flow, root);
            if (comes)
                graph_drop(&flow->graph, root); /* its stand-ins */
            flow->graph.roots[root].here |= comes;
            sends |= comes && !flow->graph.roots[root].solid;
        }
        if (!sends)
            continue;
        flow_take(flow, chart->members[m], ROOTS, &buffer);
        add_cells(flow, &buffer, chart->members[m]);
        for (int32_t root = 0; root < flow->roots; root++)
            if (chart->before[root] == m && is_here(flow, root))
                flow_need(graph_wall_root(&flow->graph, root));
    }
    free(buffer.bytes);
}

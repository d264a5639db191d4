/* evolve_reach.c - whether the node that leads an evolving run can connect with a process at
 * another site. The process itself has tried the other way before it said hello. */
#include "agent/evolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/address.h"

#define REACH_MS 10000

struct pleat_reach {
    struct pleat_proc *proc; /* NULL: it is gone, or the answer is known */
    uv_tcp_t tcp;
    uv_timer_t timer;
    uv_connect_t connect;
    int open; /* handles that are not closed yet */
    /* what it has said, and who hears that once it is reached (pleat_reach_first); NULL */
    char *address, *local;
    pleat_reached *reached;
};

static void on_handle_closed(uv_handle_t *handle)
{
    struct pleat_reach *reach = handle->data;
    if (--reach->open > 0)
        return;
    free(reach->address);
    free(reach->local);
    free(reach);
}

void pleat_reach_drop(struct pleat_proc *proc)
{
    struct pleat_reach *reach = proc->far.reach;
    if (!reach)
        return;
    proc->far.reach = NULL;
    reach->proc = NULL;
    uv_close((uv_handle_t *)&reach->tcp, on_handle_closed);
    uv_close((uv_handle_t *)&reach->timer, on_handle_closed);
}

static void cannot(struct pleat_proc *proc, const char *why)
{
    const char *address = proc->far.reach->address ? proc->far.reach->address : proc->address;
    char text[400];
    snprintf(text, sizeof(text),
             "this run's node does not reach node %u of site %s at %.120s (%.80s): let the nodes "
             "of both sites connect with one another over TCP, or run the job without --sites",
             proc->far.node, proc->far.site, address ? address : "its address", why);
    pleat_reach_drop(proc);
    free(proc->far.unreachable);
    proc->far.unreachable = strdup(text); /* it is ended when the turn is over */
}

static void on_connected(uv_connect_t *connect, int status)
{
    struct pleat_reach *reach = connect->data;
    struct pleat_proc *proc = reach->proc;
    if (!proc)
        return; /* closed */
    if (status) {
        cannot(proc, uv_strerror(status));
        return;
    }
    char *address = reach->address, *local = reach->local;
    reach->address = reach->local = NULL;
    pleat_reach_drop(proc);
    if (address)
        reach->reached(proc, address, local); /* it is freed later, by its handles */
    free(address);
    free(local);
}

static void on_late(uv_timer_t *timer)
{
    const struct pleat_reach *reach = timer->data;
    if (reach->proc)
        cannot(reach->proc, "no answer");
}

/* tcp://HOST:PORT, or tcp://[HOST]:PORT; other addresses are not of another host. */
static bool read_address(const char *text, struct sockaddr_storage *to)
{
    static const char scheme[] = "tcp://";
    struct pleat_address address;
    if (strncmp(text, scheme, strlen(scheme)) != 0 ||
        pleat_address_parse(text + strlen(scheme), &address, NULL) ||
        address.kind != PLEAT_ADDRESS_TCP)
        return false;
    return strchr(address.host, ':')
               ? !uv_ip6_addr(address.host, address.port, (struct sockaddr_in6 *)to)
               : !uv_ip4_addr(address.host, address.port, (struct sockaddr_in *)to);
}

/* False: nothing is known, or will be: as if it could be reached. */
static bool attempt(struct pleat_proc *proc, const char *at)
{
    struct sockaddr_storage to = {0};
    uv_loop_t *loop = &proc->evolve->run->agent->loop;
    if (!proc->far.site || proc->far.reach || !at || !read_address(at, &to))
        return false;
    struct pleat_reach *reach = calloc(1, sizeof(*reach));
    if (!reach)
        return false;
    reach->proc = proc;
    reach->open = 2;
    reach->tcp.data = reach->timer.data = reach->connect.data = reach;
    proc->far.reach = reach;
    (void)uv_timer_init(loop, &reach->timer); /* cannot fail */
    (void)uv_tcp_init(loop, &reach->tcp);     /* makes no socket yet: likewise */
    int status = uv_timer_start(&reach->timer, on_late, REACH_MS, 0);
    if (!status)
        status = uv_tcp_connect(&reach->connect, &reach->tcp, (const struct sockaddr *)&to,
                                on_connected);
    if (status)
        cannot(proc, uv_strerror(status));
    return true;
}

void pleat_reach_begin(struct pleat_proc *proc)
{
    (void)attempt(proc, proc->address);
}

bool pleat_reach_first(struct pleat_proc *proc, const char *address, const char *local,
                       pleat_reached *reached)
{
    char *copy = strdup(address), *near = local ? strdup(local) : NULL;
    bool known = copy && (near || !local) && (proc->far.reach || attempt(proc, address));
    struct pleat_reach *reach = proc->far.reach; /* NULL: it cannot be reached */
    if (!known || !reach) {
        free(copy);
        free(near);
        return known;
    }
    free(reach->address); /* it has connected anew */
    free(reach->local);
    reach->address = copy;
    reach->local = near;
    reach->reached = reached;
    return true;
}

#include "process/directory.h"

#include <stdlib.h>
#include <string.h>

#include "process/stream.h"
#include "process/transport.h"

/* Without memory a notice is not given; what it says can still be asked for. */
static void notify(struct pleat_processes *all, const struct pleat_process_news *notice)
{
    if (all->notices_taken && all->notices_taken == all->notices.count)
        all->notices.count = all->notices_taken = 0;
    (void)pleat_array_push(&all->notices, *notice);
}

static int new_address(struct pleat_processes *all, struct pleat_peer *peer, const char *address)
{
    if (peer->id == all->self || (peer->address && strcmp(peer->address, address) == 0))
        return 0;
    /* Another address is of another process that has been started for the number. One to which
     * messages have come is no such: it stays. */
    if (peer->address && (peer->out.received || peer->in.stream))
        return 0;
    char *copy = strdup(address);
    if (!copy)
        return PLEAT_E_NOMEM;
    pleat_transport_disconnect(all, peer);
    free(peer->address);
    peer->address = copy;
    peer->addresses++;
    peer->out.unsent = peer->out.first;
    return 0;
}

static int new_groups(struct pleat_peer *peer, const json_t *groups)
{
    int rc = 0;
    pleat_peer_leave_all(peer);
    for (size_t i = 0; i < json_array_size(groups) && rc == 0; i++)
        rc = pleat_peer_join(peer, json_string_value(json_array_get(groups, i)));
    return rc == PLEAT_E_TOOBIG ? 0 : rc;
}

static void is_gone(struct pleat_processes *all, struct pleat_peer *peer,
                    const struct pleat_told_process *about)
{
    peer->reason = about->reason;
    peer->code = about->code;
    peer->signal = about->signal;
    peer->state = PLEAT_PROCESS_GONE;
    pleat_peer_leave_all(peer);
    /* what it has sent before comes first, and what it has said of our messages */
    pleat_transport_drain(all);
    const struct pleat_process_news notice = {.news = PLEAT_PROCESS_NEWS_GONE,
                                              .process = peer->id,
                                              .reason = peer->reason,
                                              .code = peer->code,
                                              .signal = peer->signal,
                                              .lost = pleat_stream_give_up(all, peer)};
    notify(all, &notice);
}

/* As is_told, but of those that were there before no notice is given. */
static int take_over(struct pleat_processes *all, struct pleat_peer *peer,
                     const struct pleat_told_process *about)
{
    int rc = 0;
    if (about->parent >= 0)
        peer->parent = about->parent;
    if (about->address)
        rc = new_address(all, peer, about->address);
    if (!rc && about->groups)
        rc = new_groups(peer, about->groups);
    if (about->state > peer->state)
        peer->state = about->state;
    pleat_stream_flush(all, peer);
    return rc;
}

int pleat_directory_told(struct pleat_processes *all, const struct pleat_told_process *about)
{
    if (about->state == 0)
        return 0; /* prepared: nobody's yet */
    struct pleat_peer *peer = pleat_peers_get(&all->peers, about->process);
    if (!peer)
        return PLEAT_E_NOMEM;
    if (peer->state == PLEAT_PROCESS_GONE)
        return 0;
    if (about->state == PLEAT_PROCESS_GONE) {
        if (peer->id != all->self)
            is_gone(all, peer, about);
        return 0;
    }
    int before = peer->state;
    int rc = take_over(all, peer, about);
    if (before != PLEAT_PROCESS_RUNNING && peer->state == PLEAT_PROCESS_RUNNING &&
        peer->id != all->self) {
        const struct pleat_process_news notice = {
            .news = PLEAT_PROCESS_NEWS_CAME, .process = peer->id, .code = -1};
        notify(all, &notice);
    }
    return rc;
}

static bool is_listed(const struct pleat_told_line *told, int32_t id)
{
    struct pleat_told_process about;
    for (size_t i = 0; pleat_told_at(told, i, &about); i++)
        if (about.process == id)
            return true;
    return false;
}

int pleat_directory_welcome(struct pleat_processes *all, const struct pleat_told_line *told,
                            bool again)
{
    struct pleat_told_process about;
    int rc = 0;
    for (size_t i = 0; rc == 0 && pleat_told_at(told, i, &about); i++) {
        if (again || about.state == PLEAT_PROCESS_GONE) {
            rc = pleat_directory_told(all, &about);
        } else if (about.state) {
            struct pleat_peer *peer = pleat_peers_get(&all->peers, about.process);
            rc = peer ? take_over(all, peer, &about) : PLEAT_E_NOMEM;
        }
    }
    for (size_t i = 0; rc == 0 && again && i < all->peers.count; i++) {
        const struct pleat_peer *peer = all->peers.items[i];
        const struct pleat_told_process gone = {.process = peer->id,
                                                .parent = -1,
                                                .state = PLEAT_PROCESS_GONE,
                                                .reason = PLEAT_PROCESS_LOST,
                                                .code = -1};
        if (peer->id != all->self && peer->state && peer->state != PLEAT_PROCESS_GONE &&
            !is_listed(told, peer->id))
            rc = pleat_directory_told(all, &gone);
    }
    return rc;
}

int pleat_directory_added(struct pleat_processes *all, int32_t process, int64_t number, bool ready)
{
    struct pleat_peer *peer = pleat_peers_get(&all->peers, process);
    if (!peer)
        return PLEAT_E_NOMEM;
    (void)ready; /* it runs as soon as the directory says so, with its address */
    if (!peer->state)
        peer->state = PLEAT_PROCESS_COMING;
    peer->parent = all->self;
    peer->asked = number;
    return 0;
}

void pleat_directory_leave(struct pleat_processes *all)
{
    const struct pleat_process_news notice = {
        .news = PLEAT_PROCESS_NEWS_LEAVE, .process = all->self, .code = -1};
    if (all->leaving)
        return;
    all->leaving = true;
    notify(all, &notice);
}

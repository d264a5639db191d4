/* queries.c - what this process knows of the others; notices; sending to groups. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "base/utf8.h"
#include "process/loop.h"
#include "process/messages.h"

int32_t pleat_process_self(const struct pleat_processes *processes)
{
    return processes ? processes->self : PLEAT_PROCESS_NONE;
}

int32_t pleat_process_parent(const struct pleat_processes *processes)
{
    return processes ? processes->parent : PLEAT_PROCESS_NONE;
}

int32_t pleat_process_maximum(const struct pleat_processes *processes)
{
    return processes ? processes->maximum : 0;
}

/* The lock and what comes in are no part of what a query changes. */
static struct pleat_processes *enter(const struct pleat_processes *processes)
{
    struct pleat_processes *all = (struct pleat_processes *)(uintptr_t)processes;
    pleat_loop_enter(all);
    pleat_loop_work(all);
    return all;
}

static bool counts(const struct pleat_peer *peer, const char *group)
{
    return group ? peer->state == PLEAT_PROCESS_RUNNING && pleat_peer_in_group(peer, group)
                 : peer->state == PLEAT_PROCESS_COMING || peer->state == PLEAT_PROCESS_RUNNING;
}

static int list_all(const struct pleat_processes *processes, const char *group, int32_t *list,
                    int room)
{
    int count = 0;
    if (!pleat_processes_ours(processes))
        return 0;
    struct pleat_processes *all = enter(processes);
    for (size_t i = 0; i < all->peers.count; i++)
        if (counts(all->peers.items[i], group)) {
            if (count < room)
                list[count] = all->peers.items[i]->id;
            count++;
        }
    pleat_loop_leave(all);
    return count;
}

int pleat_process_list(const struct pleat_processes *processes, int32_t *list, int room)
{
    return list_all(processes, NULL, list, room);
}

int pleat_process_group_list(const struct pleat_processes *processes, const char *name,
                             int32_t *list, int room)
{
    return name ? list_all(processes, name, list, room) : 0;
}

int pleat_process_group_name(const struct pleat_processes *processes, int32_t process, int place,
                             char *name, size_t room)
{
    int count = 0;
    if (room)
        name[0] = '\0';
    if (!pleat_processes_ours(processes))
        return 0;
    struct pleat_processes *all = enter(processes);
    const struct pleat_peer *peer = pleat_peers_find(&all->peers, process);
    if (peer)
        count = peer->group_count;
    if (place >= 0 && place < count && room)
        snprintf(name, room, "%s", peer->groups[place]);
    pleat_loop_leave(all);
    return count;
}

int pleat_process_about(const struct pleat_processes *processes, int32_t process,
                        struct pleat_process_info *info, struct pleat_error *err)
{
    int rc = pleat_processes_usable(processes, err);
    if (rc)
        return rc;
    struct pleat_processes *all = enter(processes);
    const struct pleat_peer *peer = pleat_peers_find(&all->peers, process);
    if (peer && peer->state)
        *info = (struct pleat_process_info){.process = peer->id,
                                            .parent = peer->parent,
                                            .state = peer->state,
                                            .reason = peer->reason,
                                            .code = peer->code,
                                            .signal = peer->signal};
    else
        rc = pleat_messages_unknown(all, process, err);
    pleat_loop_leave(all);
    return rc;
}

int pleat_process_notice(struct pleat_processes *processes, struct pleat_process_news *notice)
{
    if (!pleat_processes_ours(processes))
        return 0;
    pleat_loop_enter(processes);
    if (processes->notices_taken == processes->notices.count)
        pleat_loop_work(processes);
    int any = processes->notices_taken < processes->notices.count;
    if (any) {
        *notice = processes->notices.items[processes->notices_taken++];
        if (notice->news == PLEAT_PROCESS_NEWS_LEAVE)
            processes->leaving_seen = true;
    }
    pleat_loop_leave(processes);
    return any;
}

int pleat_process_leaving(struct pleat_processes *processes)
{
    if (!pleat_processes_ours(processes))
        return 0;
    pleat_loop_enter(processes);
    int leaving = processes->leaving;
    if (leaving)
        processes->leaving_seen = true;
    pleat_loop_leave(processes);
    return leaving;
}

int pleat_process_descriptor(struct pleat_processes *processes, struct pleat_error *err)
{
    int rc = pleat_processes_usable(processes, err);
    if (rc)
        return rc;
    pleat_loop_enter(processes);
    if (processes->ready_fd < 0)
        processes->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    rc = processes->ready_fd < 0
             ? pleat_error_sys(err, errno, "cannot make a descriptor to wait on")
             : processes->ready_fd;
    pleat_loop_leave(processes);
    return rc;
}

/* The members at this moment; the caller frees them. NULL and *count 0: none. */
static int members(struct pleat_processes *all, const char *name, int32_t **list, int *count)
{
    *count = 0;
    *list = malloc((all->peers.count + 1) * sizeof(int32_t));
    if (!*list)
        return PLEAT_E_NOMEM;
    for (size_t i = 0; i < all->peers.count; i++)
        if (counts(all->peers.items[i], name) && all->peers.items[i]->id != all->self)
            (*list)[(*count)++] = all->peers.items[i]->id;
    return 0;
}

int pleat_process_group_send(struct pleat_processes *processes, const char *name, int32_t type,
                             const void *bytes, size_t count, int timeout_ms, int *sent,
                             struct pleat_error *err)
{
    int32_t *list;
    int length, done = 0;
    int rc = pleat_processes_usable(processes, err);
    if (!rc)
        rc = pleat_messages_check(processes, type, bytes, count, err);
    if (!rc && (!name || !pleat_name_is(name)))
        rc = pleat_error_set(err, PLEAT_E_INVALID, "'%.80s' is no name of a group",
                             name ? name : "");
    if (rc)
        return rc;
    int64_t until = pleat_loop_until(timeout_ms);
    pleat_loop_enter(processes);
    rc = members(processes, name, &list, &length);
    if (rc)
        rc = pleat_error_set(err, rc, "out of memory");
    for (int i = 0; i < length && rc == 0; i++) {
        rc = pleat_messages_send(processes, list[i], type, bytes, count, until, err);
        if (rc == 0)
            done++;
        else if (rc == PLEAT_E_CLOSED)
            rc = 0;
    }
    free(list);
    if (sent)
        *sent = done;
    pleat_loop_leave(processes);
    return rc;
}

/* peer.h - one process of the run as another sees it, and the messages between these two. */
#ifndef PLEAT_PROCESS_PEER_H
#define PLEAT_PROCESS_PEER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <zmq.h>

#include "base/array.h"
#include "process/head.h"

#define PLEAT_PEER_GROUPS 32

/* A message that was sent, kept until the receiver has it. libzmq refers to its bytes, too. */
struct pleat_kept {
    struct pleat_kept *next;
    atomic_int users;
    uint64_t number;
    size_t size;           /* of bytes[]: head and body */
    unsigned char bytes[]; /* written by the sender before libzmq gets it the first time */
};

/* A message that has come, and was not taken yet: in the list of all, and in that of its sender. */
struct pleat_came {
    struct pleat_came *next, *before;
    struct pleat_came *next_of, *before_of;
    struct pleat_peer *from;
    int32_t type;
    size_t bytes;
    size_t offset; /* of the body */
    zmq_msg_t content;
};

struct pleat_came_list {
    struct pleat_came *first, *last;
};

/* Messages from this process to that one. Numbers count from 1. */
struct pleat_outward {
    struct pleat_kept *first, *last; /* not known to be received */
    struct pleat_kept *unsent;       /* of these, the first that libzmq does not have */
    uint64_t numbered;               /* the last one */
    uint64_t bytes;                  /* of all so far */
    uint64_t received, taken, taken_bytes;
    uint64_t again; /* when a gap was said: what was sent again up to here need not be once more */
    int64_t ping_due; /* clock_monotonic; 0: none */
    int64_t ping_us;  /* how long after the last one */
    bool eager;       /* it was said that the window is full */
};

/* Messages from that process to this one. */
struct pleat_inward {
    uint64_t stream; /* 0: nothing has come */
    uint64_t received, taken, taken_bytes;
    uint64_t said_received, said_taken, said_bytes; /* what it was told last */
    uint64_t every, every_bytes;                    /* it is told after so many at the latest */
    int64_t ack_due;                                /* 0: it knows everything */
    bool gap;                                       /* it was told that something is missing */
    unsigned char route[64];                        /* libzmq's name of the connection */
    size_t route_size;
    struct pleat_came_list waiting;
};

struct pleat_peer {
    int32_t id, parent;
    int state, reason, code, signal; /* as in pleat-process.h; state 0: it was only heard of */
    char *address;                   /* NULL: not known */
    bool connected;
    char name[24];      /* libzmq's, of the connection to it */
    unsigned addresses; /* so many it has had */
    int64_t asked;      /* the number of this process's request for it; -1: not ours */
    char *groups[PLEAT_PEER_GROUPS];
    int group_count;
    struct pleat_outward out;
    struct pleat_inward in;
};

PLEAT_ARRAY(pleat_peers, struct pleat_peer *);

/* NULL: no such process is known. */
struct pleat_peer *pleat_peers_find(const struct pleat_peers *peers, int32_t id);
/* Finds or makes it; NULL: out of memory. */
struct pleat_peer *pleat_peers_get(struct pleat_peers *peers, int32_t id);
void pleat_peers_finish(struct pleat_peers *peers);

bool pleat_peer_in_group(const struct pleat_peer *peer, const char *name);
/* 0; PLEAT_E_NOMEM; PLEAT_E_TOOBIG: it is in as many as it can be. */
int pleat_peer_join(struct pleat_peer *peer, const char *name);
void pleat_peer_leave(struct pleat_peer *peer, const char *name);
void pleat_peer_leave_all(struct pleat_peer *peer);

/* A message with room for its head and a copy of the body; one user. NULL: out of memory. */
struct pleat_kept *pleat_kept_make(const void *body, size_t count);
void pleat_kept_drop(struct pleat_kept *kept);
/* Drops what was sent up to this number. */
void pleat_outward_forget(struct pleat_outward *out, uint64_t number);

void pleat_came_append(struct pleat_came_list *all, struct pleat_came *came);
void pleat_came_remove(struct pleat_came_list *all, struct pleat_came *came);

#endif

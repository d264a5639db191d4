#include "app/checkpointing.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#if PLEAT_MPI_KIND == 1
#define THIS_MPI "Open MPI"
#else
#define THIS_MPI "MPICH"
#endif

/* ---- what is registered, as entries of a checkpoint ---- */

static void describe_value(const struct pleat_value *value, struct pleat_checkpoint_entry *entry)
{
    memset(entry, 0, sizeof(*entry));
    memcpy(entry->name, value->name, sizeof(entry->name));
    memcpy(entry->kind, "value", sizeof("value"));
    entry->dimensions = 1;
    entry->shape[0] = 1;
    entry->element_bytes = value->bytes;
}

static void describe_object(const struct pleat_object *object, struct pleat_checkpoint_entry *entry)
{
    memset(entry, 0, sizeof(*entry));
    memcpy(entry->kind, "data", sizeof("data"));
    entry->dimensions = 1;
    entry->shape[0] = (int64_t)object->ops->stored(object);
    entry->element_bytes = 1;
    if (object->tail) { /* the present size of an object in the tail */
        memcpy(entry->kind, PLEAT_CHECKPOINT_CHANGING, sizeof(PLEAT_CHECKPOINT_CHANGING));
        entry->shape[0] = (int64_t)object->tail->bytes(object);
    }
    if (object->ops->describe)
        object->ops->describe(object, entry);
    memcpy(entry->name, object->name, sizeof(entry->name));
}

/* The head of a checkpoint of this session: objects first, then values. */
static int plan(const struct pleat_session *session, struct pleat_checkpoint *made,
                struct pleat_error *err)
{
    struct pleat_checkpoint_origin origin = {.iteration = session->self.iteration,
                                             .created_us = pleat_clock_real_us(),
                                             .launch = session->own.launch,
                                             .ranks = (uint32_t)session->size,
                                             .mpi = THIS_MPI};
    size_t count = session->values.count;
    size_t at = 0;
    memcpy(origin.program, session->own.name, sizeof(session->own.name));
    for (const struct pleat_object *object = session->objects; object; object = object->next)
        count++;
    struct pleat_checkpoint_entry *entries = calloc(count ? count : 1, sizeof(*entries));
    if (!entries)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the head of a checkpoint");
    for (const struct pleat_object *object = session->objects; object; object = object->next)
        describe_object(object, &entries[at++]);
    for (size_t i = 0; i < session->values.count; i++)
        describe_value(&session->values.items[i], &entries[at++]);
    int code = pleat_checkpoint_plan(
        made, entries, count > UINT32_MAX ? UINT32_MAX : (uint32_t)count, &origin, err);
    free(entries);
    return code;
}

/* An object is saved and loaded as in any state. Its place there may be another one in the file. */
static void choose(struct pleat_state *part, const struct pleat_object *object,
                   const struct pleat_checkpoint_entry *entry)
{
    pleat_state_set_file(part, entry->offset - object->offset, object->offset + entry->bytes);
}

/* ---- writing ---- */

static int write_values(const struct pleat_session *session, const struct pleat_checkpoint *head,
                        int fd, struct pleat_error *err)
{
    int code = 0;
    for (size_t i = 0; i < session->values.count && !code; i++) {
        const struct pleat_value *value = &session->values.items[i];
        code = pleat_checkpoint_write(fd, pleat_checkpoint_find(head, value->name)->offset,
                                      value->ptr, value->bytes, err);
    }
    return code;
}

static int write_part(struct pleat_session *session, const struct pleat_checkpoint *head, int fd,
                      struct pleat_error *err)
{
    struct pleat_state *part = NULL;
    int code = pleat_state_of_file(fd, true, &part, err);
    if (!code && session->rank == 0)
        code = write_values(session, head, fd, err);
    for (struct pleat_object *object = session->objects; object && !code; object = object->next) {
        const struct pleat_checkpoint_entry *entry = pleat_checkpoint_find(head, object->name);
        choose(part, object, entry);
        code = object->tail ? object->tail->save(object, session->rank, part, object->offset, err)
                            : object->ops->save(object, part, err);
    }
    pleat_state_close(part);
    return code;
}

/* What rank 0 tells the others. */
struct file {
    uint64_t device, inode;
    uint64_t number; /* the number with which the file is signed, where there are several nodes */
    int code;
    char path[PLEAT_MAILBOX_PATH];
};

/* Rank 0 makes the file, the others open it. *code: this rank's outcome. */
static int open_file(struct pleat_session *session, const char *path, struct pleat_checkpoint *head,
                     struct pleat_checkpoint_writer *writer, int *code, struct pleat_error *err)
{
    struct file *file = calloc(1, sizeof(*file));
    if (!file) /* the others wait, and without memory for the path rank 0 can tell them nothing */
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the name of a checkpoint");
    *code = session->number > 1 && session->rank == 0 ? pleat_save_later_session(err)
                                                      : plan(session, head, err);
    if (session->rank == 0 && !*code)
        *code = pleat_checkpoint_create(path, head->file_bytes, writer, err);
    if (session->rank == 0 && session->nodes) {
        const uint64_t words[3] = {(uint64_t)pleat_clock_real_us(), (uint64_t)getpid(),
                                   writer->inode};
        file->number = pleat_session_hash(session->self.iteration, words, sizeof(words));
        if (!*code)
            *code = pleat_checkpoint_sign(writer, file->number, err);
    }
    if (session->rank == 0) {
        file->code = *code;
        file->device = writer->device;
        file->inode = writer->inode;
        strncpy(file->path, path, sizeof(file->path) - 1);
    }
    int failed = pleat_mpi_check(MPI_Bcast(file, (int)sizeof(*file), MPI_BYTE, 0, session->comm),
                                 "writing a checkpoint", err);
    if (!failed && session->rank != 0 && !*code)
        *code = file->code ? pleat_error_set(err, file->code, "rank 0 cannot write a checkpoint")
                : session->nodes
                    ? pleat_checkpoint_join_signed(file->path, file->number, writer, err)
                    : pleat_checkpoint_join(file->path, file->device, file->inode, writer, err);
    free(file);
    return failed;
}

/* All data are in the file: each rank sums its share of the pieces, and rank 0 gets all sums. */
static int collect_sums(struct pleat_session *session, struct pleat_checkpoint *head, int fd,
                        int *code, struct pleat_error *err)
{
    enum { MOST = 1 << 20 };
    uint64_t first, count;
    int failed = 0;
    pleat_checkpoint_share(head, (uint32_t)session->rank, (uint32_t)session->size, &first, &count);
    *code = pleat_checkpoint_sum(fd, head, first, count, head->sums + first, err);
    /* pieces of other ranks' shares are 0 here */
    for (uint64_t at = 0; at < head->pieces && !failed; at += MOST) {
        int some = (int)(head->pieces - at < MOST ? head->pieces - at : MOST);
        uint64_t *sums = head->sums + at;
        failed = pleat_mpi_check(MPI_Reduce(session->rank == 0 ? MPI_IN_PLACE : sums, sums, some,
                                            MPI_UINT64_T, MPI_BXOR, 0, session->comm),
                                 "writing a checkpoint", err);
    }
    return failed;
}

/* Agrees on the outcome: *agreed is the same on all ranks, and each has the error of the first rank
 * that has one. */
static int agree(struct pleat_session *session, int code, int *agreed, struct pleat_error *err)
{
    struct pleat_error first = {0};
    int failed = pleat_mpi_agree(session->comm, code, agreed, err);
    if (failed || !*agreed)
        return failed;
    if (code)
        first = *err;
    failed = pleat_mpi_share_error(session->comm, &first, err);
    if (!failed && !code)
        pleat_error_set(err, *agreed, "another rank could not write its part of the checkpoint: %s",
                        first.text);
    return failed;
}

/* Writes the file through to the disk. If it replaces an older file, that one is the only
 * checkpoint until then. So the new file is read again before it is renamed, by each rank its
 * share. */
static int flush(struct pleat_session *session, const struct pleat_checkpoint *head,
                 struct pleat_checkpoint_writer *writer, int *agreed, struct pleat_error *err)
{
    int told[2] = {0}; /* rank 0's code, and whether the file is read again */
    if (session->rank == 0) {
        told[0] = pleat_checkpoint_flush(writer, head, err);
        told[1] = pleat_checkpoint_replaces(writer);
    }
    int failed =
        pleat_mpi_check(MPI_Bcast(told, 2, MPI_INT, 0, session->comm), "writing a checkpoint", err);
    int code = told[0];
    if (failed || (!code && !told[1])) {
        *agreed = 0;
        return failed;
    }
    if (code && session->rank != 0)
        pleat_error_set(err, code, "rank 0 could not finish the checkpoint");
    if (!code && session->rank == 0)
        code = pleat_checkpoint_reread(writer, err);
    if (!code)
        code = pleat_checkpoint_verify(writer->fd, head, (uint32_t)session->rank,
                                       (uint32_t)session->size, err);
    return agree(session, code, agreed, err);
}

static int write_all(struct pleat_session *session, const char *path, struct pleat_checkpoint *head,
                     struct pleat_checkpoint_writer *writer, int *agreed, struct pleat_error *err)
{
    int code = 0;
    int failed = open_file(session, path, head, writer, &code, err);
    if (!failed && !code)
        code = write_part(session, head, writer->fd, err);
    if (!failed && !code && session->nodes)
        code = pleat_checkpoint_give(writer, err);
    if (!failed)
        failed = agree(session, code, agreed, err);
    if (!failed && !*agreed && session->nodes)
        pleat_checkpoint_forget(writer);
    if (!failed && !*agreed)
        failed = collect_sums(session, head, writer->fd, &code, err);
    if (!failed && !*agreed)
        failed = agree(session, code, agreed, err);
    if (!failed && !*agreed)
        failed = flush(session, head, writer, agreed, err);
    if (failed || *agreed)
        return failed;
    if (session->rank == 0)
        *agreed = pleat_checkpoint_name(writer, err);
    /* no rank has passed an adaptation point since all began, so what they told the agent before
     * was about this point */
    if (session->rank == 0 && !*agreed)
        pleat_mailbox_unwant(&session->self);
    failed = pleat_mpi_check(MPI_Bcast(agreed, 1, MPI_INT, 0, session->comm),
                             "writing a checkpoint", err);
    if (!failed && *agreed && session->rank != 0)
        pleat_error_set(err, *agreed, "rank 0 could not finish the checkpoint");
    return failed;
}

int pleat_checkpoint_all(struct pleat_session *session, const char *path, uint64_t *bytes,
                         struct pleat_error *err)
{
    struct pleat_checkpoint head = {0};
    struct pleat_checkpoint_writer writer = {.fd = -1};
    int agreed = 0;
    const bool asked = pleat_asked_take();
    int failed = write_all(session, path, &head, &writer, &agreed, err);
    pleat_asked_again(asked && (failed || agreed));
    *bytes = head.file_bytes;
    pleat_checkpoint_close(&writer, session->rank != 0 || (!failed && !agreed));
    pleat_checkpoint_finish(&head);
    return failed ? failed : agreed ? PLEAT_SAVE_NOT : 0;
}

/* ---- going on from a checkpoint ---- */

/* The checkpoint that a program goes on from. */
struct pleat_from {
    char path[PLEAT_MAILBOX_PATH];
    struct pleat_checkpoint head; /* the head, once this rank has opened the file */
    int fd;
    /* size of the file that rank 0 found, which all ranks must find */
    uint64_t file_bytes;
    struct pleat_checkpoint_origin origin;
};

static int open_from(struct pleat_from *from, struct pleat_error *err)
{
    return from->fd >= 0 ? 0 : pleat_checkpoint_open(from->path, &from->head, &from->fd, err);
}

void pleat_from_close(struct pleat_session *session)
{
    struct pleat_from *from = session->from;
    if (!from)
        return;
    if (from->fd >= 0)
        close(from->fd);
    pleat_checkpoint_finish(&from->head);
    free(from);
    session->from = NULL;
}

static int no_memory(struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_NOMEM, "no memory to open a checkpoint");
}

static int find_first(struct pleat_session *session, const char *path, struct pleat_error *err)
{
    struct pleat_from *from = session->from;
    if (strlen(path) >= sizeof(from->path))
        return pleat_error_set(err, PLEAT_E_INVALID, PLEAT_FROM_ENV " is too long for a path");
    memcpy(from->path, path, strlen(path) + 1);
    int code = open_from(from, err);
    from->file_bytes = from->head.file_bytes;
    from->origin = from->head.origin;
    return code;
}

/* A script launches other programs before it comes to the one that wrote the checkpoint. Returns
 * the number of the launch that the checkpoint is left for; 0: it is for this one. A program that
 * was no script's is taken for the first one. In a malleable script only `pleat launch` has a
 * number, so a program that it starts in another way takes no checkpoint: each of them would take
 * the same one. */
static uint64_t left_for(const struct pleat_session *session)
{
    const char *script = getenv(PLEAT_LAUNCHING_ENV);
    const uint64_t wrote = session->from->origin.launch ? session->from->origin.launch : 1;
    const bool launched = session->own.launch || (script && *script);
    return launched && session->own.launch != wrote ? wrote : 0;
}

int pleat_from_find(struct pleat_session *session, struct pleat_error *err)
{
    const char *path = getenv(PLEAT_FROM_ENV);
    if (session->rank != 0 || !path || !*path || session->number > 1)
        return 0;
    session->from = calloc(1, sizeof(*session->from));
    if (!session->from)
        return no_memory(err);
    session->from->fd = -1;
    int code = find_first(session, path, err);
    const uint64_t launch = code ? 0 : left_for(session);
    if (launch && session->mailbox) /* so that the agent sees if no program takes it */
        pleat_mailbox_spare(session->mailbox, launch);
    if (code || launch)
        pleat_from_close(session);
    return code;
}

int pleat_from_share(struct pleat_session *session, int *code, struct pleat_error *err)
{
    struct {
        uint64_t file_bytes;
        struct pleat_checkpoint_origin origin;
        char path[PLEAT_MAILBOX_PATH];
        bool there;
    } *told = calloc(1, sizeof(*told));
    if (!told)
        return no_memory(err);
    if (session->rank == 0 && session->from) {
        told->there = true;
        told->file_bytes = session->from->file_bytes;
        told->origin = session->from->origin;
        memcpy(told->path, session->from->path, sizeof(told->path));
    }
    int failed = pleat_session_tell(session, told, sizeof(*told), "looking for a checkpoint", err);
    if (!failed && told->there && !session->from) {
        session->from = calloc(1, sizeof(*session->from));
        if (session->from) {
            session->from->fd = -1;
            session->from->file_bytes = told->file_bytes;
            session->from->origin = told->origin;
            memcpy(session->from->path, told->path, sizeof(told->path));
        } else if (!*code) {
            *code = no_memory(err);
        }
    }
    if (!failed && session->from) {
        session->resumed = true;
        session->held.iteration = session->from->origin.iteration;
    }
    free(told);
    return failed;
}

/* Checks all that this rank can before anything is changed: that this is the file that rank 0
 * found, that it is this program's, and this rank's share of the data. */
static int check(struct pleat_session *session, struct pleat_error *err)
{
    struct pleat_from *from = session->from;
    struct pleat_checkpoint own = {0};
    int code = open_from(from, err);
    if (code)
        return code;
    if (from->head.file_bytes != from->file_bytes ||
        memcmp(&from->head.origin, &from->origin, sizeof(from->origin)) != 0)
        code = pleat_error_set(err, PLEAT_E_CORRUPT, "another file than rank 0 has found");
    if (!code)
        code = plan(session, &own, err);
    if (!code)
        code = pleat_checkpoint_compare(&from->head, &own, err);
    pleat_checkpoint_finish(&own);
    if (!code)
        code = pleat_checkpoint_verify(from->fd, &from->head, (uint32_t)session->rank,
                                       (uint32_t)session->size, err);
    return code ? pleat_error_prefix(err, code, "%s", from->path) : 0;
}

static int load_part(struct pleat_session *session, struct pleat_error *err)
{
    const struct pleat_from *from = session->from;
    const int data = session->in_data ? pleat_state_data(session->saved) : -1;
    struct pleat_state *part = NULL;
    int code = pleat_state_of_file(from->fd, false, &part, err);
    for (size_t i = 0; !code && i < session->values.count; i++) {
        const struct pleat_value *value = &session->values.items[i];
        code =
            pleat_checkpoint_read(from->fd, pleat_checkpoint_find(&from->head, value->name)->offset,
                                  value->ptr, value->bytes, err);
    }
    for (struct pleat_object *object = session->objects; object && !code; object = object->next) {
        const struct pleat_checkpoint_entry *entry =
            pleat_checkpoint_find(&from->head, object->name);
        const struct pleat_tail tail = {.state = part,
                                        .offset = object->offset,
                                        .end = object->offset + entry->bytes,
                                        .rank = session->rank,
                                        .size = session->size};
        uint64_t bytes = 0;
        choose(part, object, entry);
        code = object->ops->load(object, part, data, err);
        if (!code && object->tail)
            code = object->tail->load(object, &tail, &bytes, err);
    }
    pleat_state_close(part);
    return code;
}

/* Loads all that is registered. *agreed: the outcome on all ranks. */
static int load_all(struct pleat_session *session, int *agreed, struct pleat_error *err)
{
    int code = check(session, err);
    int failed = pleat_mpi_agree(session->comm, code, agreed, err);
    if (!failed && !*agreed) {
        code = load_part(session, err);
        failed = pleat_mpi_agree(session->comm, code, agreed, err);
    }
    if (!failed && !*agreed)
        failed = pleat_load_arrange(session, &code, err);
    if (!failed && !*agreed)
        failed = pleat_mpi_agree(session->comm, code, agreed, err);
    if (failed || !*agreed)
        return failed;
    if (!code)
        pleat_error_set(err, *agreed, "another rank could not go on from the checkpoint (%s)",
                        pleat_error_name(*agreed));
    /* the agent must know before any rank ends the program */
    if (session->mailbox && pleat_session_leads(session))
        pleat_mailbox_cannot_begin(&session->self, err->text);
    return pleat_mpi_check(MPI_Barrier(session->comm), "beginning", err);
}

int pleat_from_load(struct pleat_session *session, struct pleat_error *err)
{
    int64_t start = pleat_clock_monotonic_ns();
    MPI_Errhandler handler;
    int agreed = 0;
    int failed = pleat_mpi_quiet_begin(session->comm, &handler, err);
    if (!failed)
        failed = load_all(session, &agreed, err);
    pleat_mpi_quiet_end(session->comm, &handler);
    if (!failed && !agreed)
        failed = pleat_actions_resumed(session, err);
    if (failed || agreed)
        return failed ? failed : agreed;
    uint64_t took = (uint64_t)(pleat_clock_monotonic_ns() - start);
    const struct pleat_mailbox_cost cost = {
        .load_ns = took, .total_ns = took, .bytes = session->from->file_bytes};
    pleat_from_close(session);
    if (session->mailbox && pleat_session_leads(session))
        pleat_mailbox_begun(&session->self, &cost);
    return 0;
}

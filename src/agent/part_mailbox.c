#include "agent/part_mailbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/kind.h"
#include "shm/mailbox.h"
#include "shm/state.h"

struct pleat_part_mailbox {
    struct pleat_mailbox *mailbox;
    int fd;
    int bell[2]; /* a pipe that its ranks write to; both ends are held, so it never breaks */
    struct pleat_state_store state;
};

int pleat_part_mailbox_create(struct pleat_run *run, const struct pleat_run_request *request,
                              struct pleat_error *err)
{
    struct pleat_part_mailbox *made = calloc(1, sizeof(*made));
    if (!made)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for a mailbox");
    made->fd = made->bell[0] = made->bell[1] = -1;
    for (int i = 0; i < PLEAT_STATE_FILES; i++)
        made->state.fd[i] = -1;
    run->part_mailbox = made;
    int rc = pleat_mailbox_create(request->mailbox_ranks, &made->mailbox, &made->fd, err);
    if (!rc) {
        pleat_mailbox_place(made->mailbox, request->place, request->places);
        rc = pleat_state_store_init(&made->state, err);
    }
    if (!rc && pipe2(made->bell, O_CLOEXEC | O_NONBLOCK))
        rc = pleat_error_sys(err, errno, "no pipe for the doorbell");
    return rc; /* `destroy` frees it */
}

void pleat_part_mailbox_destroy(struct pleat_run *run)
{
    struct pleat_part_mailbox *old = run->part_mailbox;
    run->part_mailbox = NULL;
    if (!old)
        return;
    pleat_mailbox_close(old->mailbox);
    const int fds[] = {old->fd, old->bell[0], old->bell[1]};
    for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    pleat_state_store_finish(&old->state);
    free(old);
}

static void add_path(const struct pleat_run *run, struct pleat_string *own, const char *name,
                     int fd)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)run->agent->pid, fd);
    pleat_run_add_variable(own, name, path);
}

void pleat_part_mailbox_add_variables(const struct pleat_run *run, struct pleat_string *own)
{
    const struct pleat_part_mailbox *here = run->part_mailbox;
    char paths[PLEAT_STATE_PATHS_SIZE];
    if (!here)
        return;
    add_path(run, own, PLEAT_MAILBOX_HERE_ENV, here->fd);
    add_path(run, own, PLEAT_DOORBELL_HERE_ENV, here->bell[1]);
    pleat_state_store_paths(&here->state, paths);
    pleat_run_add_variable(own, PLEAT_STATE_HERE_ENV, paths);
}

int pleat_part_mailbox_describe(const struct pleat_run *run, json_t *text)
{
    struct pleat_mailbox_status status;
    int32_t pids[64];
    uint32_t ranks = 0, count;
    if (!run->part_mailbox)
        return 0;
    pleat_mailbox_status(run->part_mailbox->mailbox, &status);
    for (uint32_t first = 0;
         (count = pleat_mailbox_pids(run->part_mailbox->mailbox, first, 64, pids)) > 0;
         first += count)
        for (uint32_t i = 0; i < count; i++)
            ranks += pids[i] != 0;
    int bad = json_object_set_new(text, "ranks", json_integer((json_int_t)ranks));
    return bad | json_object_set_new(text, "iteration",
                                     json_integer((json_int_t)(status.iteration & INT64_MAX)));
}

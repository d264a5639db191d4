/* Answers that wait: for the end of a job, or for more output. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/accounts.h"
#include "daemon/clients.h"
#include "daemon/daemon.h"
#include "daemon/files.h"
#include "daemon/job_json.h"
#include "daemon/jobs.h"
#include "daemon/parked.h"

enum { TAIL_MS = 50, CHUNK = 256 * 1024 };

enum parked_what { FOR_END, FOR_OUTPUT };

struct parked {
    struct parked *next;
    struct client *client;
    int64_t request;
    int64_t job; /* -1: all */
    enum parked_what what;
    struct output_wish wish;
};

static void park(struct client *client, struct parked *what)
{
    struct parked *parked = malloc(sizeof(*parked));
    struct pleat_error err;
    if (!parked) {
        pleat_error_set(&err, PLEAT_E_NOMEM, "out of memory");
        client_fail(client, what->request, &err);
        return;
    }
    *parked = *what;
    parked->client = client;
    parked->next = client->daemon->parked.first;
    client->daemon->parked.first = parked;
    client_hold(client);
}

/* ---- the end of jobs ---- */

static bool answer_end(struct daemon *d, struct client *client, int64_t request, int64_t id)
{
    struct job *job = id >= 0 ? job_find(d, id) : NULL;
    if (id >= 0 ? job && !job->ended : d->jobs.living > 0)
        return false;
    json_t *jobs = json_array();
    if (id >= 0)
        json_array_append_new(jobs, job ? job_to_json(d, job, false) : accounts_job(d, id, false));
    client_reply(client, request, json_pack("{s:o}", "jobs", jobs));
    return true;
}

void parked_wait(struct client *client, int64_t request, int64_t job)
{
    if (answer_end(client->daemon, client, request, job))
        return;
    struct parked parked = {.request = request, .job = job, .what = FOR_END};
    park(client, &parked);
}

/* ---- output ---- */

/* Output in a file that the user named is not read here, since the file's file system may hang. The
 * client reads it: it is told the path, and whether more may come. */
static void answer_path(struct client *client, int64_t request, const struct output_wish *wish,
                        const char *path, bool over)
{
    struct pleat_error err;
    if (wish->paths) {
        client_reply(client, request,
                     json_pack("{s:s, s:b, s:I, s:b}", "path", path, "over", over, "offset",
                               (json_int_t)wish->offset, "end", false));
        return;
    }
    pleat_error_set(&err, PLEAT_E_INVALID,
                    "job %lld writes its %s to %s, which pleatd does not read: read that file",
                    (long long)wish->job, wish->stream, path);
    client_fail(client, request, &err);
}

/* Answers with the output that is there. False: there is nothing more yet, and the job goes on. */
static bool answer_output(struct daemon *d, struct client *client, int64_t request,
                          const struct output_wish *wish, bool wait)
{
    char path[PATH_MAX] = "";
    struct job *job = job_find(d, wish->job);
    enum job_file file = strcmp(wish->stream, "stdout") ? JOB_ERROR : JOB_OUTPUT;
    bool over = !job || job->ended; /* looked at before the file, so that no output written before
                                       the end is missed */
    if (job_file_path(d, wish->job, file, path, sizeof(path), NULL))
        path[0] = '\0';
    if (*path && job_file_is_users(d, wish->job, file)) {
        answer_path(client, request, wish, path, over);
        return true;
    }
    char *buffer = malloc(CHUNK);
    ssize_t count = 0;
    struct stat about;
    /* the job may have replaced the file by a link to a file system that hangs */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd >= 0 && buffer && fstat(fd, &about) == 0 && S_ISREG(about.st_mode)) {
        count = pread(fd, buffer, CHUNK, wish->offset);
        if (count < 0)
            count = 0;
    }
    if (fd >= 0)
        close(fd);
    if (count == 0 && wait && !over) {
        free(buffer);
        return false;
    }
    struct pleat_string out = {0};
    json_t *result = json_pack("{s:I, s:b}", "offset", (json_int_t)wish->offset + count, "end",
                               over && count == 0);
    if (!buffer || !result) {
        json_decref(result);
        client_reply(client, request, NULL);
    } else {
        if (pleat_write_result_bytes(&out, request, result, buffer, (size_t)count))
            daemon_log("an answer could not be written");
        client_send(client, &out);
    }
    free(buffer);
    return true;
}

static void on_tail(uv_timer_t *handle)
{
    parked_check(handle->data);
}

void parked_output(struct client *client, int64_t request, const struct output_wish *wish)
{
    struct daemon *d = client->daemon;
    struct parked parked = {.request = request, .job = wish->job, .what = FOR_OUTPUT};
    const struct job *job = job_find(d, wish->job);
    /* a client that has read all of a file is answered after a while, or when the job ends */
    bool later = wish->follow && wish->read && job && !job->ended;
    if (!later && answer_output(d, client, request, wish, wish->follow))
        return;
    parked.wish = *wish;
    park(client, &parked);
    if (d->parked.outputs++ == 0)
        uv_timer_start(&d->parked.tail, on_tail, TAIL_MS, TAIL_MS);
}

static void unpark(struct daemon *d, struct parked **at)
{
    struct parked *parked = *at;
    *at = parked->next;
    if (parked->what == FOR_OUTPUT && --d->parked.outputs == 0)
        uv_timer_stop(&d->parked.tail);
    client_drop(parked->client);
    free(parked);
}

void parked_check(struct daemon *d)
{
    for (struct parked **at = &d->parked.first; *at;) {
        struct parked *parked = *at;
        bool answered =
            parked->what == FOR_END
                ? answer_end(d, parked->client, parked->request, parked->job)
                : answer_output(d, parked->client, parked->request, &parked->wish, true);
        if (answered)
            unpark(d, at);
        else
            at = &parked->next;
    }
}

void parked_forget(struct client *client)
{
    struct daemon *d = client->daemon;
    for (struct parked **at = &d->parked.first; *at;) {
        if ((*at)->client == client)
            unpark(d, at);
        else
            at = &(*at)->next;
    }
}

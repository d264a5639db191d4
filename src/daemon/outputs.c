#include "daemon/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/write.h"
#include "daemon/agent.h"
#include "daemon/agent_link.h"
#include "daemon/couriers.h"
#include "daemon/files.h"
#include "daemon/jobs.h"
#include "daemon/runs.h"

/* Where the output of a run begins in a file: "RUN BYTES", in a file beside it. */
struct begin {
    uint64_t run;
    int64_t at;
};

static bool read_begin(const char *path, struct begin *begin)
{
    char text[64] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    ssize_t count = read(fd, text, sizeof(text) - 1);
    close(fd);
    return count > 0 && sscanf(text, "%" SCNu64 " %" SCNd64 "\n", &begin->run, &begin->at) == 2;
}

/* Nonzero: the file could not be written, and is as it was. */
static int write_begin(const char *path, const struct begin *begin)
{
    char text[64];
    int length = snprintf(text, sizeof(text), "%" PRIu64 " %" PRId64 "\n", begin->run, begin->at);
    return pleat_write_private(path, text, (size_t)length);
}

static int write_at(int fd, const char *bytes, size_t count, int64_t at)
{
    while (count > 0) {
        ssize_t written = pwrite(fd, bytes, count, at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return errno;
        bytes += written;
        count -= (size_t)written;
        at += written;
    }
    return 0;
}

/* Nonzero: the piece was not written. */
static int put(struct daemon *d, int64_t job, const char *stream, uint64_t run, int64_t offset,
               const struct pleat_message *message)
{
    char path[600], beside[620];
    struct begin begin = {0};
    struct stat about;
    job_output_path(d, job, stream, path, sizeof(path));
    snprintf(beside, sizeof(beside), "%s.begin", path);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0)
        return errno;
    int code = fstat(fd, &about) ? errno : S_ISREG(about.st_mode) ? 0 : EINVAL;
    if (!code && (!read_begin(beside, &begin) || begin.run != run)) {
        begin = (struct begin){run, about.st_size - offset};
        code = begin.at < 0 ? EINVAL : write_begin(beside, &begin);
    }
    if (!code)
        code = write_at(fd, message->bytes, message->bytes_count, begin.at + offset);
    if (close(fd) && !code)
        code = errno;
    return code;
}

static void tell(struct agent *agent, const char *method, json_t *params)
{
    struct pleat_error err = {0};
    if (!params || agent_send(agent->daemon, agent->site, agent->node, method, params, &err))
        daemon_log("the agent of node %u cannot be told '%s': %s", agent->node, method,
                   params ? err.text : "out of memory");
}

void outputs_take(struct agent *agent, const struct job *job, const struct pleat_message *message)
{
    int64_t run = 0, stream = 0, offset = 0;
    if (pleat_get_int(message->params, "run", true, 1, INT64_MAX, &run, NULL) ||
        pleat_get_int(message->params, "stream", true, 1, 2, &stream, NULL) ||
        pleat_get_int(message->params, "offset", true, 0, INT64_MAX / 2, &offset, NULL) ||
        !message->bytes || couriers_write(agent, job, message))
        return;
    int code = 0;
    bool shown = terminals_take(agent, job, (uint64_t)run, offset, message->bytes,
                                message->bytes_count, &code);
    if (!shown)
        code = put(agent->daemon, job->id, stream == 2 ? "stderr" : "stdout", (uint64_t)run, offset,
                   message);
    if (!code && shown)
        return; /* it is heard when it was shown */
    if (!code) {
        tell(agent, "output_heard",
             json_pack("{s:I, s:I, s:I}", "run", (json_int_t)run, "stream", (json_int_t)stream,
                       "offset", (json_int_t)offset + (json_int_t)message->bytes_count));
        return;
    }
    if (!agent->unheard)
        daemon_log("job %lld: what it writes on node %u cannot be written here, and waits there: "
                   "%s",
                   (long long)job->id, agent->node, strerror(code));
    agent->unheard = true;
    tell(agent, "output_go", json_pack("{s:I, s:b}", "run", (json_int_t)run, "go", 0));
}

static bool is_sent(struct agent *agent, const struct active_run *run)
{
    const struct job *job = job_of_component(agent->daemon, run->component);
    return agent->apart || (job && !job->ended &&
                            terminals_are_far(agent->daemon, job->id, agent->site, agent->node));
}

void outputs_listed(struct agent *agent)
{
    struct daemon *d = agent->daemon;
    agent->unheard = false;
    for (size_t i = 0; i < d->runs.count; i++)
        if (agent_of_run(d, &d->runs.items[i]) == agent && is_sent(agent, &d->runs.items[i]))
            tell(agent, "output_go",
                 json_pack("{s:I, s:b}", "run", (json_int_t)d->runs.items[i].run, "go", 1));
}

void outputs_look(struct daemon *d)
{
    for (struct agent *agent = d->agents; agent; agent = agent->next)
        if (agent->unheard && agent->connection && agent->listed)
            outputs_listed(agent);
}

/* pleatd, the sites that it has, and what earlier ones have left. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "cli/doctor/check.h"
#include "client/client.h"
#include "wire/reply.h"

enum { SILENT_S = 10, PIDS_SHOWN = 8 };

int doctor_ask(struct doctor *doctor, const char *method, json_t **answer, struct pleat_error *err)
{
    struct pleat_client *client;
    if (doctor->paths_wrong.code) {
        *err = doctor->paths_wrong;
        return err->code;
    }
    int rc = pleat_client_open(&doctor->paths, &client, err);
    if (rc)
        return rc;
    rc = pleat_client_call(client, method, NULL, answer, err);
    pleat_client_close(client);
    return rc;
}

/* ---- pleatd ---- */

static void tell_of_pleatd(struct doctor *doctor, const json_t *info)
{
    const char *version = pleat_reply_text(info, "version", "?");
    const char *holding = pleat_reply_text(info, "holding", NULL);
    const char *damage = pleat_reply_text(info, "damage", NULL);
    if (holding)
        doctor_tell(
            doctor, DOCTOR_FAILED, "log",
            "make room, or writable, what the sentence names: nothing is decided until then", "%s",
            holding);
    if (damage)
        doctor_tell(doctor, DOCTOR_WARNING, "log", "see 'pleat events'", "%s", damage);
    if (strcmp(version, PLEAT_VERSION))
        doctor_tell(doctor, DOCTOR_WARNING, NULL,
                    "'pleat stop' when no job runs: the next command starts the new one",
                    "pleatd is version %s, this is %s", version, PLEAT_VERSION);
    else
        doctor_tell(doctor, DOCTOR_OK, NULL, NULL, "pleatd runs (pid %" PRId64 ") and answers",
                    pleat_reply_int(info, "pid", 0));
}

void doctor_pleatd(struct doctor *doctor)
{
    struct pleat_error err = {0};
    json_t *info = NULL;
    int rc = doctor_ask(doctor, "info", &info, &err);
    if (doctor->start_wrong.code)
        doctor_tell(doctor, DOCTOR_FAILED, NULL, "mend what it says, and try again", "%s",
                    doctor->start_wrong.text);
    else if (rc == PLEAT_E_NOTFOUND)
        doctor_tell(doctor, DOCTOR_UNCHECKED, NULL,
                    "nothing: commands start one when they need it ('pleat doctor --start' does, "
                    "too)",
                    "no pleatd runs");
    else if (rc)
        doctor_tell(doctor, DOCTOR_FAILED, NULL,
                    "mend what it says; if pleatd hangs, end it: jobs go on", "%s", err.text);
    else
        tell_of_pleatd(doctor, info);
    json_decref(info);
}

/* ---- sites ---- */

static void tell_of_nodes(struct doctor *doctor, const char *name, const json_t *site)
{
    size_t i;
    json_t *node;
    json_array_foreach(pleat_reply_array(site, "nodes"), i, node)
    {
        char subject[140];
        snprintf(subject, sizeof(subject), "%s node %" PRId64, name,
                 pleat_reply_int(node, "node", 0));
        doctor_tell(doctor, DOCTOR_OK, subject, NULL,
                    "%" PRId64 " processors, %" PRId64 " of them used; %s",
                    pleat_reply_int(node, "processors", 0), pleat_reply_int(node, "used", 0),
                    pleat_reply_true(node, "agent") ? "its agent is connected"
                                                    : "no agent, as nothing has run there yet");
    }
}

static bool tell_what_is_wrong(struct doctor *doctor, const char *name, const json_t *site)
{
    const char *state = pleat_reply_text(site, "state", "ok");
    int64_t failed = pleat_reply_int(site, "failed_starts", 0);
    int64_t silent_s = pleat_reply_int(site, "silent_s", 0);
    if (silent_s >= SILENT_S)
        doctor_tell(doctor, DOCTOR_FAILED, name,
                    "is the machine very busy, or the agent stopped? See pleatd.log",
                    "an agent has not answered for %" PRId64 " s", silent_s);
    else if (strcmp(state, "ok"))
        doctor_tell(doctor, DOCTOR_WARNING, name, "see 'pleat events' for the reason",
                    "the site is %s", state);
    else if (failed > 0)
        doctor_tell(doctor, DOCTOR_WARNING, name, "see 'pleat events' for the reason",
                    "%" PRId64 " starts failed there recently", failed);
    else if (pleat_reply_int(site, "processors", 0) <= 0)
        doctor_tell(doctor, DOCTOR_WARNING, name, "see 'processors' and 'cpus' in pleat.conf",
                    "the site offers no processors");
    else if (pleat_reply_true(site, "oversubscribed"))
        doctor_tell(doctor, DOCTOR_WARNING, name,
                    "lower 'processors' in pleat.conf, unless you only try things out",
                    "the site offers %" PRId64 " processors, but has %" PRId64 " CPUs",
                    pleat_reply_int(site, "processors", 0), pleat_reply_int(site, "cpus", 0));
    else
        return false;
    return true;
}

static void tell_of_site(struct doctor *doctor, const json_t *site)
{
    const char *name = pleat_reply_text(site, "name", "?");
    if (!tell_what_is_wrong(doctor, name, site))
        doctor_tell(doctor, DOCTOR_OK, name, NULL,
                    "%" PRId64 " processors, %" PRId64 " free; jobs are %s; %s",
                    pleat_reply_int(site, "processors", 0), pleat_reply_int(site, "free", 0),
                    pleat_reply_true(site, "bound")   ? "bound to their CPUs"
                    : pleat_reply_true(site, "folds") ? "not bound, unless they fold"
                                                      : "not bound, and cannot fold there",
                    pleat_reply_int(site, "agents", 0) > 0
                        ? "its agent is connected"
                        : "no agent, as nothing has run there yet");
    tell_of_nodes(doctor, name, site);
}

void doctor_sites(struct doctor *doctor)
{
    struct pleat_error err = {0};
    json_t *answer = NULL, *site;
    size_t i;
    if (doctor_ask(doctor, "sites", &answer, &err))
        doctor_tell(doctor, DOCTOR_UNCHECKED, NULL, "see the check 'pleatd'",
                    "no pleatd told of its sites");
    json_array_foreach(pleat_reply_array(answer, "sites"), i, site) tell_of_site(doctor, site);
    json_decref(answer);
}

/* ---- what is left ---- */

/* Whether somebody has the lock of a file, without trying it, which could be in the way of an agent
 * that starts. */
static bool is_locked(const char *path)
{
    char line[256];
    struct stat st;
    bool locked = false;
    FILE *locks = stat(path, &st) ? NULL : fopen("/proc/locks", "re");
    while (locks && !locked && fgets(line, sizeof(line), locks)) {
        unsigned major_number, minor_number;
        unsigned long inode;
        locked = sscanf(line, "%*s FLOCK %*s %*s %*s %x:%x:%lu", &major_number, &minor_number,
                        &inode) == 3 &&
                 inode == st.st_ino && makedev(major_number, minor_number) == st.st_dev;
    }
    if (locks)
        fclose(locks);
    return locked;
}

/* How many agents of this instance live. */
static int agents_alive(const struct doctor *doctor)
{
    DIR *directory = doctor->paths_wrong.code ? NULL : opendir(doctor->paths.state);
    int count = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char path[800];
        size_t length = strlen(entry->d_name);
        snprintf(path, sizeof(path), "%s/%s", doctor->paths.state, entry->d_name);
        count += length > 5 && !strncmp(entry->d_name, "agent-", 6) &&
                 !strcmp(entry->d_name + length - 5, ".lock") && is_locked(path);
    }
    if (directory)
        closedir(directory);
    return count;
}

static bool tell_of_agents(struct doctor *doctor)
{
    struct pleat_error err = {0};
    json_t *info = NULL;
    int agents = agents_alive(doctor);
    bool runs = doctor_ask(doctor, "info", &info, &err) == 0;
    json_decref(info);
    if (runs || agents == 0)
        return false;
    doctor_tell(doctor, DOCTOR_WARNING, "agents", "'pleat ps' starts a pleatd, which finds them",
                "%d agent%s without a pleatd, with the jobs of the last one", agents,
                agents == 1 ? " runs" : "s run");
    return true;
}

static bool tell_of_processes(struct doctor *doctor, const json_t *processes)
{
    struct pleat_string pids = {0};
    size_t count = json_array_size(processes);
    for (size_t i = 0; i < count && i < PIDS_SHOWN; i++)
        pleat_string_addf(&pids, " %lld",
                          (long long)json_integer_value(json_array_get(processes, i)));
    if (count)
        doctor_tell(doctor, DOCTOR_WARNING, "processes",
                    "the next job of their instance ends them; or end them yourself (kill)",
                    "%zu process%s of jobs whose agent is dead:%s%s", count, count == 1 ? "" : "es",
                    pids.text, count > PIDS_SHOWN ? " ..." : "");
    pleat_string_finish(&pids);
    return count > 0;
}

void doctor_leftovers(struct doctor *doctor)
{
    json_t *seen = doctor_look_by_agent(doctor);
    if (!seen)
        return;
    int64_t files = pleat_reply_int(seen, "files", 0),
            folders = pleat_reply_int(seen, "folders", 0);
    bool any = tell_of_agents(doctor);
    any = tell_of_processes(doctor, pleat_reply_array(seen, "processes")) || any;
    if (files + folders > 0)
        doctor_tell(doctor, DOCTOR_WARNING, "files",
                    "files go with the next agent that starts; folders pleat-* of instances that "
                    "you do not use any more you may remove",
                    "%" PRId64 " file%s and %" PRId64 " folder%s in /dev/shm that nobody uses",
                    files, files == 1 ? "" : "s", folders, folders == 1 ? "" : "s");
    else if (!any)
        doctor_tell(doctor, DOCTOR_OK, NULL, NULL, "no process and no file is left by crashes");
    json_decref(seen);
}

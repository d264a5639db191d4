#include "pmi/server.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The limits that processes are told. MPICH reads lines of at most 1023 bytes, so an answer with
 * the longest value must be shorter than that. */
#define NAME_MAX_LENGTH 256
#define KEY_MAX_LENGTH 64
#define VALUE_MAX_LENGTH 900

struct pair {
    char *value; /* points behind the key */
    char key[];
};

struct process {
    enum pleat_pmi_life life;
    bool waits;     /* the process is in the barrier */
    bool in_detail; /* inside a command of several lines, which ends with "endcmd" */
    size_t length;  /* bytes in `line` */
    char line[PLEAT_PMI_LINE_MAX];
};

struct pleat_pmi {
    uint32_t size;
    uint32_t waiting; /* number of processes in the barrier */
    int abort_code;
    bool refused;
    char name[64];
    void *pairs; /* tree (tsearch) of struct pair, by key */
    size_t kept;
    struct process processes[];
};

struct pleat_pmi *pleat_pmi_new(uint32_t size, const char *name)
{
    struct pleat_pmi *pmi = calloc(1, sizeof(*pmi) + size * sizeof(pmi->processes[0]));
    if (pmi) {
        pmi->size = size;
        snprintf(pmi->name, sizeof(pmi->name), "%s", name);
    }
    return pmi;
}

void pleat_pmi_free(struct pleat_pmi *pmi)
{
    if (pmi)
        tdestroy(pmi->pairs, free);
    free(pmi);
}

enum pleat_pmi_life pleat_pmi_life(const struct pleat_pmi *pmi, uint32_t rank)
{
    return pmi->processes[rank].life;
}

int pleat_pmi_abort_code(const struct pleat_pmi *pmi)
{
    return pmi->abort_code;
}

bool pleat_pmi_refused(const struct pleat_pmi *pmi)
{
    return pmi->refused;
}

/* ---- what processes tell each other ---- */

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct pair *)a)->key, ((const struct pair *)b)->key);
}

/* NULL: out of memory. */
static struct pair *pair_new(const char *key, const char *value)
{
    size_t key_size = strlen(key) + 1, value_size = strlen(value) + 1;
    struct pair *pair = malloc(sizeof(*pair) + key_size + value_size);
    if (!pair)
        return NULL;
    memcpy(pair->key, key, key_size);
    pair->value = pair->key + key_size;
    memcpy(pair->value, value, value_size);
    return pair;
}

static size_t size_of(const struct pair *pair)
{
    return sizeof(*pair) + strlen(pair->key) + strlen(pair->value) + 2;
}

/* Stores a value. Returns NULL, or the error's name in PMI. An existing key gets the new value,
 * since a process may begin MPI again after it has ended it. */
static const char *put(struct pleat_pmi *pmi, const char *key, const char *value, bool *no_memory)
{
    if (!*key || strlen(key) >= KEY_MAX_LENGTH)
        return "key_length";
    if (strlen(value) > VALUE_MAX_LENGTH)
        return "value_length";
    struct pair *fresh = pair_new(key, value);
    if (!fresh) {
        *no_memory = true;
        return "no_memory";
    }
    if (pmi->kept + size_of(fresh) > PLEAT_PMI_KEPT_MAX) {
        free(fresh);
        return "too_much";
    }
    struct pair **place = tsearch(fresh, &pmi->pairs, compare);
    if (!place) {
        free(fresh);
        *no_memory = true;
        return "no_memory";
    }
    if (*place != fresh) {
        pmi->kept -= size_of(*place);
        free(*place);
        *place = fresh;
    }
    pmi->kept += size_of(fresh);
    return NULL;
}

static const char *get(const struct pleat_pmi *pmi, const char *key)
{
    _Alignas(struct pair) char room[sizeof(struct pair) + PLEAT_PMI_LINE_MAX];
    struct pair *wanted = (struct pair *)(void *)room;
    snprintf(wanted->key, PLEAT_PMI_LINE_MAX, "%s", key);
    struct pair **found = tfind(wanted, &pmi->pairs, compare);
    return found ? (*found)->value : NULL;
}

/* ---- commands ---- */

/* The value of a word NAME=VALUE in a line whose blanks are replaced by NUL; "": there is none. */
static const char *value_of(const char *line, size_t length, const char *name)
{
    size_t name_length = strlen(name);
    for (size_t at = 0; at < length; at += strlen(line + at) + 1)
        if (!strncmp(line + at, name, name_length) && line[at + name_length] == '=')
            return line + at + name_length + 1;
    return "";
}

/* Answers `get`. The mapping says that all processes are on one node, in the order of ranks. */
static void answer_get(const struct pleat_pmi *pmi, const char *key, struct pleat_string *answer)
{
    const char *value = get(pmi, key);
    if (!strcmp(key, "PMI_process_mapping"))
        pleat_string_addf(answer, "cmd=get_result rc=0 msg=success value=(vector,(0,1,%u))\n",
                          pmi->size);
    else if (value)
        pleat_string_addf(answer, "cmd=get_result rc=0 msg=success value=%s\n", value);
    else
        pleat_string_addf(answer, "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
}

static void answer_put(struct pleat_pmi *pmi, const char *key, const char *value, bool *no_memory,
                       struct pleat_string *answer)
{
    const char *wrong = put(pmi, key, value, no_memory);
    pleat_string_addf(answer, "cmd=put_result rc=%d msg=%s\n", wrong ? -1 : 0,
                      wrong ? wrong : "success");
}

static enum pleat_pmi_outcome enter_barrier(struct pleat_pmi *pmi, struct process *process)
{
    if (process->waits)
        return PLEAT_PMI_NONSENSE;
    process->waits = true;
    if (++pmi->waiting < pmi->size)
        return PLEAT_PMI_GOES_ON;
    pmi->waiting = 0;
    for (uint32_t i = 0; i < pmi->size; i++)
        pmi->processes[i].waits = false;
    return PLEAT_PMI_RELEASES;
}

static enum pleat_pmi_outcome abort_all(struct pleat_pmi *pmi, const char *code)
{
    pmi->abort_code = (int)strtol(code, NULL, 10);
    return PLEAT_PMI_ABORTS;
}

static void refuse(struct pleat_pmi *pmi, const char *answers, struct pleat_string *answer)
{
    pmi->refused = true;
    pleat_string_addf(answer, "cmd=%s info=not_supported rc=-1 msg=not_supported\n", answers);
}

/* Answers a command whose name says all. False: it is not such a command. */
static bool answer_simple(struct pleat_pmi *pmi, struct process *process, const char *command,
                          struct pleat_string *answer)
{
    if (!strcmp(command, "init")) {
        process->life = PLEAT_PMI_JOINED;
        pleat_string_add(answer, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
    } else if (!strcmp(command, "get_maxes")) {
        pleat_string_addf(answer, "cmd=maxes kvsname_max=%d keylen_max=%d vallen_max=%d\n",
                          NAME_MAX_LENGTH, KEY_MAX_LENGTH, VALUE_MAX_LENGTH);
    } else if (!strcmp(command, "get_appnum")) {
        pleat_string_add(answer, "cmd=appnum appnum=0\n");
    } else if (!strcmp(command, "get_my_kvsname")) {
        pleat_string_addf(answer, "cmd=my_kvsname kvsname=%s\n", pmi->name);
    } else if (!strcmp(command, "get_universe_size")) {
        pleat_string_add(answer, "cmd=universe_size size=-1\n"); /* -1: not known */
    } else if (!strcmp(command, "finalize")) {
        process->life = PLEAT_PMI_FINISHED;
        pleat_string_add(answer, "cmd=finalize_ack\n");
    } else if (!strcmp(command, "publish_name")) {
        refuse(pmi, "publish_result", answer);
    } else if (!strcmp(command, "unpublish_name")) {
        refuse(pmi, "unpublish_result", answer);
    } else if (!strcmp(command, "lookup_name")) {
        refuse(pmi, "lookup_result", answer);
    } else {
        return false;
    }
    return true;
}

static enum pleat_pmi_outcome answer_line(struct pleat_pmi *pmi, struct process *process,
                                          struct pleat_string *answer)
{
    char *line = process->line;
    size_t length = process->length; /* with the newline, which becomes a NUL */
    bool no_memory = false;
    line[length - 1] = '\0';
    if (memchr(line, '\0', length - 1))
        return PLEAT_PMI_NONSENSE;
    if (process->in_detail) {
        process->in_detail = strcmp(line, "endcmd") != 0;
        if (!process->in_detail)
            refuse(pmi, "spawn_result", answer);
        return PLEAT_PMI_GOES_ON;
    }
    for (char *at = line; (at = strchr(at, ' ')) != NULL;)
        *at++ = '\0';
    const char *command = value_of(line, length, "cmd");
    if (!strncmp(line, "mcmd=", 5)) {
        process->in_detail = true;
        return PLEAT_PMI_GOES_ON;
    }
    if (strncmp(line, "cmd=", 4) != 0)
        return PLEAT_PMI_NONSENSE;
    if (!strcmp(command, "barrier_in"))
        return enter_barrier(pmi, process);
    if (!strcmp(command, "abort"))
        return abort_all(pmi, value_of(line, length, "exitcode"));
    if (!strcmp(command, "get"))
        answer_get(pmi, value_of(line, length, "key"), answer);
    else if (!strcmp(command, "put"))
        answer_put(pmi, value_of(line, length, "key"), value_of(line, length, "value"), &no_memory,
                   answer);
    else if (!answer_simple(pmi, process, command, answer))
        return PLEAT_PMI_NONSENSE;
    return no_memory || answer->failed ? PLEAT_PMI_NO_MEMORY : PLEAT_PMI_GOES_ON;
}

enum pleat_pmi_outcome pleat_pmi_take(struct pleat_pmi *pmi, uint32_t rank, const char *bytes,
                                      size_t count, size_t *used, struct pleat_string *answer)
{
    struct process *process = &pmi->processes[rank];
    enum pleat_pmi_outcome outcome = PLEAT_PMI_GOES_ON;
    *used = 0;
    while (*used < count && outcome == PLEAT_PMI_GOES_ON) {
        char byte = bytes[(*used)++];
        process->line[process->length++] = byte;
        if (byte == '\n') {
            outcome = answer_line(pmi, process, answer);
            process->length = 0;
        } else if (process->length == PLEAT_PMI_LINE_MAX) {
            outcome = PLEAT_PMI_NONSENSE;
            process->length = 0;
        }
    }
    return outcome;
}

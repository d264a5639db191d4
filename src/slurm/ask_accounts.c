/* The accounts and qualities of service that this user has, as Slurm's database knows them. */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "slurm/ask.h"
#include "slurm/ask_cluster.h"
#include "wire/message.h"

enum { COLUMNS_MAX = 16 };

/* What limits an account or a quality of service: columns of sacctmgr. */
#define LIMITS "GrpTRES,GrpJobs,GrpSubmitJobs,GrpWall,MaxTRES,MaxJobs,MaxSubmitJobs,MaxWall"

/* Parts a line at each '|', and returns the number of parts. */
static int part(char *line, char *parts[COLUMNS_MAX])
{
    int count = 0;
    while (line && count < COLUMNS_MAX)
        parts[count++] = strsep(&line, "|");
    return count;
}

/* "GrpTRES=cpu=2, MaxJobs=3" of the columns that are not empty; `names`: theirs. */
static json_t *limits_of(const char *names, char **parts, int count)
{
    struct pleat_string text = {0};
    pleat_string_add(&text, "");
    for (int i = 0; i < count && *names; i++) {
        size_t length = strcspn(names, ",");
        if (*parts[i])
            pleat_string_addf(&text, "%s%.*s=%s", text.length ? ", " : "", (int)length, names,
                              parts[i]);
        names += length + (names[length] == ',');
    }
    json_t *limits = pleat_json_text(text.text);
    pleat_string_finish(&text);
    return limits;
}

static json_t *list_of(char *words)
{
    json_t *list = json_array();
    for (char *word; (word = strsep(&words, ",")) != NULL;)
        if (*word)
            json_array_append_new(list, pleat_json_text(word));
    return list;
}

/* DefaultAccount|Account|Partition|QOS|DefaultQOS|limits */
static json_t *account_of(char *line)
{
    enum { DEFAULT, ACCOUNT, PARTITION, QOS, DEFAULT_QOS, FIRST_LIMIT };
    char *parts[COLUMNS_MAX];
    int count = part(line, parts);
    if (count <= FIRST_LIMIT || !*parts[ACCOUNT])
        return NULL;
    return json_pack("{s:o, s:b, s:o, s:o, s:o, s:o}", "account", pleat_json_text(parts[ACCOUNT]),
                     "default", !strcmp(parts[DEFAULT], parts[ACCOUNT]), "partition",
                     pleat_json_text(parts[PARTITION]), "qos", list_of(parts[QOS]), "default_qos",
                     pleat_json_text(parts[DEFAULT_QOS]), "limits",
                     limits_of(LIMITS, parts + FIRST_LIMIT, count - FIRST_LIMIT));
}

/* Name|limits */
static json_t *qos_of(char *line)
{
    char *parts[COLUMNS_MAX];
    int count = part(line, parts);
    if (count < 2 || !*parts[0])
        return NULL;
    return json_pack("{s:o, s:o}", "name", pleat_json_text(parts[0]), "limits",
                     limits_of(LIMITS, parts + 1, count - 1));
}

/* Asks sacctmgr, and makes a list of its lines. */
static int lines_of(const char *const *argv, json_t *(*make)(char *line), json_t **list,
                    struct pleat_error *err)
{
    char *text;
    int failure = pleat_slurm_ask(argv, NULL, &text, err);
    if (failure)
        return failure;
    *list = json_array();
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        json_t *one = *line ? make(line) : NULL;
        if (one)
            json_array_append_new(*list, one);
    }
    free(text);
    return 0;
}

int pleat_slurm_ask_accounts(const char *cluster, json_t **accounts, struct pleat_error *err)
{
    char of_user[300], of_cluster[300];
    const struct passwd *user = getpwuid(getuid());
    if (!user)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "this user has no name");
    snprintf(of_user, sizeof(of_user), "name=%.250s", user->pw_name);
    snprintf(of_cluster, sizeof(of_cluster), "cluster=%.250s", cluster);
    const char *const associations[] = {
        "sacctmgr",    "--noheader",
        "--parsable2", "show",
        "user",        "withassoc",
        "where",       of_user,
        of_cluster,    "format=DefaultAccount,Account,Partition,QOS,DefaultQOS," LIMITS,
        NULL};
    static const char *const qualities[] = {
        "sacctmgr", "--noheader", "--parsable2", "show", "qos", "format=Name," LIMITS, NULL};
    json_t *own = NULL, *qos = NULL;
    int failure = lines_of(associations, account_of, &own, err);
    failure = failure ? failure : lines_of(qualities, qos_of, &qos, err);
    if (failure) {
        json_decref(own);
        return failure;
    }
    *accounts = json_pack("{s:o, s:o}", "accounts", own, "qos", qos);
    return *accounts ? 0 : pleat_slurm_no_memory(err);
}

/* submission_env.c - the environment of a job. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rank_env.h"
#include "describe/submission.h"

/* Variables that every job gets. */
static const char *const basic[] = {"HOME", "LOGNAME", "PATH", "SHELL", "USER"};

static bool has_name(const char *variable, const char *name, size_t length)
{
    return !strncmp(variable, name, length) && variable[length] == '=';
}

/* Whether a variable is exported. rank: this command runs in a rank of an MPI program. */
static bool is_exported(const char *which, const char *variable, bool rank)
{
    if (!strcmp(which, "all"))
        return !rank || !pleat_rank_env_is(variable);
    for (size_t i = 0; i < sizeof(basic) / sizeof(basic[0]); i++)
        if (has_name(variable, basic[i], strlen(basic[i])))
            return true;
    if (!strcmp(which, "none"))
        return false;
    for (const char *at = which; *at; at += strspn(at, ",")) {
        size_t length = strcspn(at, ",");
        if (length && has_name(variable, at, length))
            return true;
        at += length;
    }
    return false;
}

/* Whether --env sets the variable, in its values from `first` on. */
static bool is_set(const struct pleat_submit_options *s, const char *variable, size_t first)
{
    for (size_t i = first; i < s->env.count; i++)
        if (has_name(variable, s->env.items[i], strcspn(s->env.items[i], "=")))
            return true;
    return false;
}

static void add_submit_directory(json_t *env)
{
    char directory[PATH_MAX + 20] = "PLEAT_SUBMIT_DIR=";
    size_t length = strlen(directory);
    if (env && getcwd(directory + length, PATH_MAX)) {
        json_t *text = json_string(directory);
        if (text) /* NULL: the value is not UTF-8 */
            json_array_append_new(env, text);
    }
}

/* A copy of a variable, without the libraries that Pleat has preloaded into the job in which this
 * command runs. */
static json_t *copy(const char *variable)
{
    if (!pleat_rank_env_preloads(variable))
        return json_string(variable);
    char *other = pleat_rank_env_preload(variable);
    json_t *text = other ? json_string(other) : NULL;
    free(other);
    return text;
}

json_t *pleat_submission_environment(const struct pleat_submit_options *s,
                                     struct pleat_string *notes)
{
    json_t *env = json_array();
    bool rank = pleat_rank_env_is_rank(environ);
    for (char **variable = environ; env && *variable; variable++)
        if (strchr(*variable, '=') && !has_name(*variable, "PLEAT_SUBMIT_DIR", 16) &&
            is_exported(s->exported, *variable, rank) && !is_set(s, *variable, 0) &&
            json_array_append_new(env, copy(*variable)))
            pleat_string_addf(notes,
                              "the environment variable %.*s is left out: it is not valid UTF-8\n",
                              (int)strcspn(*variable, "="), *variable);
    for (size_t i = 0; env && i < s->env.count; i++)
        if (!is_set(s, s->env.items[i], i + 1) &&
            json_array_append_new(env, json_string(s->env.items[i])))
            pleat_string_addf(notes, "--env %.*s is left out: it is not valid UTF-8\n",
                              (int)strcspn(s->env.items[i], "="), s->env.items[i]);
    add_submit_directory(env);
    return env;
}

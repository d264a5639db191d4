#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "launch/launcher.h"

static void take(struct pleat_launch_list *list, char *text)
{
    if (!text)
        list->failed = true;
    /* always leaves room for the NULL at the end */
    if (list->failed || pleat_array_reserve(list, 2)) {
        free(text);
        list->failed = true;
        return;
    }
    list->items[list->count++] = text;
    list->items[list->count] = NULL;
}

void pleat_launch_add(struct pleat_launch_list *list, const char *text)
{
    take(list, text ? strdup(text) : NULL);
}

void pleat_launch_addf(struct pleat_launch_list *list, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    int length = vasprintf(&text, fmt, args);
    va_end(args);
    take(list, length < 0 ? NULL : text);
}

static bool has_name(const char *entry, const char *name, size_t length)
{
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

void pleat_launch_unset(struct pleat_launch_list *env, const char *name)
{
    size_t length = strlen(name);
    size_t kept = 0;
    for (size_t i = 0; i < env->count; i++) {
        if (has_name(env->items[i], name, length))
            free(env->items[i]);
        else
            env->items[kept++] = env->items[i];
    }
    env->count = kept;
    if (env->items)
        env->items[kept] = NULL;
}

void pleat_launch_set(struct pleat_launch_list *env, const char *name, const char *value)
{
    pleat_launch_unset(env, name);
    pleat_launch_addf(env, "%s=%s", name, value);
}

const char *pleat_launch_env(const char *const *env, const char *name)
{
    size_t length = strlen(name);
    for (; env && *env; env++)
        if (has_name(*env, name, length))
            return *env + length + 1;
    return NULL;
}

bool pleat_launch_is_local(const struct pleat_launch_request *request)
{
    return request->node_count == 0 || (request->node_count == 1 && !request->nodes[0].host);
}

bool pleat_launch_is_on_one_machine(const struct pleat_launch_request *request)
{
    return request->one_machine || pleat_launch_is_local(request);
}

void pleat_launch_preload(const struct pleat_launch_request *request, const char *library,
                          struct pleat_launch_list *env)
{
    const char *asan = pleat_launch_env(request->env, "ASAN_OPTIONS");
    pleat_launch_unset(env, "LD_PRELOAD");
    pleat_launch_add_preload(env, request, "LD_PRELOAD=", library, NULL);
    pleat_launch_unset(env, "ASAN_OPTIONS");
    pleat_launch_addf(env, "ASAN_OPTIONS=verify_asan_link_order=0%s%s", asan ? ":" : "",
                      asan ? asan : "");
}

void pleat_launch_stay_on_loopback(const struct pleat_launch_request *request,
                                   struct pleat_launch_list *env)
{
    pleat_launch_preload(request, request->loopback, env);
    if (!pleat_launch_env(request->env, "UCX_TLS"))
        pleat_launch_set(env, "UCX_TLS", "^tcp");
}

void pleat_launch_add_hosts(struct pleat_launch_list *argv,
                            const struct pleat_launch_request *request)
{
    struct pleat_string hosts = {0};
    for (size_t i = 0; i < request->node_count; i++) {
        const struct pleat_launch_node *node = &request->nodes[i];
        pleat_string_addf(&hosts, "%s%s:%u", i ? "," : "", node->host ? node->host : "localhost",
                          node->slots);
    }
    if (hosts.failed)
        argv->failed = true;
    else
        pleat_launch_add(argv, hosts.text);
    pleat_string_finish(&hosts);
}

void pleat_launch_add_preload(struct pleat_launch_list *list,
                              const struct pleat_launch_request *request, const char *prefix,
                              const char *first, const char *second)
{
    const char *const libraries[] = {first, second, pleat_launch_env(request->env, "LD_PRELOAD")};
    struct pleat_string value = {0};
    for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
        if (libraries[i] && *libraries[i])
            pleat_string_addf(&value, "%s%s", value.length ? ":" : "", libraries[i]);
    if (value.failed)
        list->failed = true;
    else
        pleat_launch_addf(list, "%s%s", prefix, value.length ? value.text : "");
    pleat_string_finish(&value);
}

int pleat_launch_check_program(const char *launcher, const struct pleat_launch_request *request,
                               struct pleat_error *err)
{
    if (request->argv[0][0] == '-')
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "program '%s': %s would take it for an option; write './%s'",
                               request->argv[0], launcher, request->argv[0]);
    for (const char *const *argument = request->argv; *argument; argument++)
        if (strcmp(*argument, ":") == 0)
            return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                                   "argument ':' of '%s': %s takes it for the start of another "
                                   "program; put the command into a script",
                                   request->argv[0], launcher);
    return 0;
}

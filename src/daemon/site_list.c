#include "daemon/site_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config_site.h"
#include "daemon/daemon.h"
#include "wire/reply.h"

static const char *const origins[] = {"default", "pleat.conf", "command"};

const char *site_list_from(const struct pleat_config_site *site)
{
    return origins[site->from];
}

/* ---- what is kept ---- */

int site_list_write(struct daemon *d, struct pleat_error *err)
{
    json_t *list = json_array();
    for (size_t i = 0; i < d->config.site_count; i++) {
        const struct pleat_config_site *site = &d->config.sites[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:s?, s:b, s:b, s:O?}", "name",
                                              site->name, "from", site_list_from(site), "block",
                                              site->gone ? NULL : site->block, "gone", site->gone,
                                              "leaving", site->leaving, "shut", site->shut));
    }
    char *text = json_dumps(list, JSON_COMPACT);
    bool whole = json_array_size(list) == d->config.site_count;
    json_decref(list);
    int rc = text && whole ? pleat_store_put_meta(d->store, "sites", text, err)
                           : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    free(text);
    return rc;
}

/* The list in the log; NULL: an older Pleat wrote the log, or it is new. */
static int read_kept(struct daemon *d, json_t **list, struct pleat_error *err)
{
    struct pleat_string text = {0};
    int rc = pleat_store_get_meta(d->store, "sites", &text, err);
    *list = rc ? NULL : json_loads(text.text ? text.text : "", 0, NULL);
    pleat_string_finish(&text);
    if (!rc && !json_is_array(*list)) {
        daemon_log("the list of sites in the log is damaged: those of pleat.conf are taken");
        json_decref(*list);
        *list = NULL;
    }
    return rc == PLEAT_E_NOTFOUND ? 0 : rc;
}

/* ---- at the start ---- */

struct merging {
    struct daemon *d;
    struct pleat_config_site *sites; /* by index */
    size_t count;
    struct pleat_config_site *file; /* the sites of pleat.conf; those that were taken have no name
                                     * any more */
    size_t file_count;
};

/* Is a site other than the default one kept, so that the default one may be missing? */
static bool has_others(const json_t *kept)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(kept, i, entry)
    {
        if (pleat_reply_is(entry, "from", origins[PLEAT_FROM_COMMAND]) &&
            !pleat_reply_true(entry, "gone") && !pleat_reply_true(entry, "leaving"))
            return true;
    }
    return false;
}

/* pleat.conf has no site: drops the default one if it was removed, or if a site of its name was
 * added. */
static void drop_default(struct merging *m, const json_t *kept)
{
    size_t i;
    const json_t *entry;
    bool away = false;
    if (m->file_count != 1 || m->file[0].from != PLEAT_FROM_DEFAULT || !has_others(kept))
        return;
    json_array_foreach(kept, i, entry)
    {
        if (pleat_reply_is(entry, "name", m->file[0].name))
            away = pleat_reply_true(entry, "gone") || pleat_reply_true(entry, "leaving") ||
                   pleat_reply_is(entry, "from", origins[PLEAT_FROM_COMMAND]);
    }
    if (away)
        config_site_finish(&m->file[0]);
}

/* Moves the site of pleat.conf that has the name; false: it has none. */
static bool take_from_file(struct merging *m, const char *name, struct pleat_config_site *to)
{
    for (size_t i = 0; i < m->file_count; i++) {
        if (!m->file[i].name || strcmp(m->file[i].name, name) != 0)
            continue;
        *to = m->file[i];
        memset(&m->file[i], 0, sizeof(m->file[i]));
        return true;
    }
    return false;
}

static int make_gone(const char *name, struct pleat_config_site *site, struct pleat_error *err)
{
    *site = (struct pleat_config_site){
        .name = strdup(name), .ops = pleat_site_kind_at(0), .gone = true};
    return site->name ? 0 : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
}

/* Reads a site that pleat.conf does not have: one that was added, or that leaves. */
static int read_block(const json_t *entry, struct pleat_config_site *site, struct pleat_error *err)
{
    const char *name = pleat_reply_text(entry, "name", "");
    struct pleat_error why = {0};
    int rc = config_site_read(pleat_reply_text(entry, "block", ""), site, &why);
    if (rc)
        return pleat_error_set(err, rc,
                               "site %s, which was added by command: %.400s. Put it into "
                               "pleat.conf as it should be: what is there counts",
                               name, why.text);
    bool added = pleat_reply_is(entry, "from", origins[PLEAT_FROM_COMMAND]);
    bool usual = pleat_reply_is(entry, "from", origins[PLEAT_FROM_DEFAULT]);
    site->from = added ? PLEAT_FROM_COMMAND : usual ? PLEAT_FROM_DEFAULT : PLEAT_FROM_FILE;
    site->leaving = !added || pleat_reply_true(entry, "leaving");
    if (!added && !pleat_reply_true(entry, "leaving"))
        daemon_log("site %s is not in pleat.conf any more: it is removed as soon as it has no jobs",
                   name);
    return 0;
}

/* Takes the drained nodes of a batch system; a damaged list counts as empty. */
static void take_shut(const json_t *entry, struct pleat_config_site *site)
{
    const json_t *names = json_object_get(entry, "shut");
    size_t i;
    const json_t *name;
    bool good = json_array_size(names) > 0 && site->ops->shut_hosts;
    json_array_foreach(names, i, name) good = good && json_is_string(name);
    site->shut = good ? json_deep_copy(names) : NULL;
}

static int merge_entry(struct merging *m, const json_t *entry, struct pleat_error *err)
{
    const char *name = pleat_reply_text(entry, "name", "");
    struct pleat_config_site *site = &m->sites[m->count];
    int rc = 0;
    if (take_from_file(m, name, site)) {
        if (pleat_reply_is(entry, "from", origins[PLEAT_FROM_COMMAND]) &&
            !pleat_reply_true(entry, "gone"))
            daemon_log("site %s was added by command, and is in pleat.conf: that counts", name);
        site->returns = pleat_reply_true(entry, "leaving");
    } else if (pleat_reply_true(entry, "gone")) {
        rc = make_gone(name, site, err);
    } else {
        rc = read_block(entry, site, err);
    }
    if (!rc && !site->gone)
        take_shut(entry, site);
    m->count += !rc;
    return rc;
}

/* Adds the core's sites that neither the list nor pleat.conf has, as in logs of an older Pleat. */
static int merge_unknown(struct merging *m, struct pleat_error *err)
{
    uint32_t known = pleat_core_view(m->d->core)->site_count;
    int rc = 0;
    while (!rc && m->count < known) {
        char name[32];
        snprintf(name, sizeof(name), "former-%zu", m->count);
        rc = make_gone(name, &m->sites[m->count], err);
        m->count += !rc;
    }
    return rc;
}

static int merge(struct merging *m, const json_t *kept, struct pleat_error *err)
{
    size_t i;
    const json_t *entry;
    int rc = 0;
    drop_default(m, kept);
    json_array_foreach(kept, i, entry)
    {
        if (!rc)
            rc = merge_entry(m, entry, err);
    }
    if (!rc && kept)
        rc = merge_unknown(m, err);
    for (i = 0; !rc && i < m->file_count; i++) {
        if (!m->file[i].name)
            continue;
        m->sites[m->count++] = m->file[i];
        memset(&m->file[i], 0, sizeof(m->file[i]));
    }
    if (!rc)
        rc = merge_unknown(m, err);
    if (!rc && m->count > PLEAT_SITES_MAX)
        rc = pleat_error_set(err, PLEAT_E_TOOBIG, "more than %d sites, with those that are gone",
                             PLEAT_SITES_MAX);
    return rc;
}

int site_list_open(struct daemon *d, struct pleat_error *err)
{
    json_t *kept;
    int rc = read_kept(d, &kept, err);
    if (rc)
        return rc;
    size_t room =
        json_array_size(kept) + d->config.site_count + pleat_core_view(d->core)->site_count + 1;
    struct merging m = {.d = d,
                        .sites = calloc(room, sizeof(*m.sites)),
                        .file = d->config.sites,
                        .file_count = d->config.site_count};
    rc = m.sites ? merge(&m, kept, err) : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    for (size_t i = 0; i < m.file_count; i++)
        config_site_finish(&m.file[i]);
    free(m.file);
    d->config.sites = m.sites;
    d->config.site_count = m.count;
    for (size_t i = 0; i < m.count; i++) {
        d->site_list.leaving += m.sites[i].leaving;
        d->site_list.sweeps = d->site_list.sweeps || m.sites[i].gone;
    }
    d->site_list.changed = true;
    json_decref(kept);
    return rc;
}

/* ---- while pleatd runs ---- */

uint32_t site_list_find(const struct daemon *d, const char *name)
{
    for (size_t i = 0; i < d->config.site_count; i++)
        if (!d->config.sites[i].gone && !strcmp(d->config.sites[i].name, name))
            return (uint32_t)i;
    return PLEAT_NONE;
}

uint32_t site_list_staying(const struct daemon *d)
{
    uint32_t count = 0;
    for (size_t i = 0; i < d->config.site_count; i++)
        count += !d->config.sites[i].gone && !d->config.sites[i].leaving;
    return count;
}

int site_list_place(struct daemon *d, const char *name, uint32_t *index, struct pleat_error *err)
{
    size_t count = d->config.site_count;
    for (size_t i = 0; i < count; i++) {
        *index = (uint32_t)i;
        if (d->config.sites[i].gone && !strcmp(d->config.sites[i].name, name))
            return 0;
    }
    if (count == PLEAT_SITES_MAX)
        return pleat_error_set(err, PLEAT_E_TOOBIG,
                               "there were %d sites of different names: use one of those that are "
                               "gone again",
                               PLEAT_SITES_MAX);
    struct pleat_config_site *sites = realloc(d->config.sites, (count + 1) * sizeof(*sites));
    if (!sites)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    d->config.sites = sites;
    memset(&sites[count], 0, sizeof(sites[count]));
    if (make_gone(name, &sites[count], err))
        return PLEAT_E_NOMEM;
    *index = (uint32_t)count;
    d->config.site_count++;
    return 0;
}

void site_list_gone(struct daemon *d, uint32_t index)
{
    struct pleat_config_site *site = &d->config.sites[index];
    d->site_list.leaving -= site->leaving;
    site->leaving = false;
    site->gone = true;
    d->site_list.changed = d->site_list.sweeps = true;
}

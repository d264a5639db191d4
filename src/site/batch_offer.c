/* What a batch system offers this user, for people. */
#include <stdio.h>

#include "site/batch_claims.h"
#include "wire/message.h"
#include "wire/reply.h"

static void on_checked(void *arg, uint64_t token, const json_t *result,
                       const struct pleat_error *wrong)
{
    struct pleat_batch_site *site = arg;
    bool unknown = !result && (wrong->code == PLEAT_E_CLOSED || wrong->code == PLEAT_E_TIMEOUT);
    (void)token;
    site->offer.checked = !unknown;
    site->offer.may = result || wrong->code == PLEAT_E_BUSY; /* busy: later */
    snprintf(site->offer.refusal, sizeof(site->offer.refusal), "%.290s",
             site->offer.may ? "" : wrong->text);
}

void pleat_batch_offer_ask(struct pleat_batch_site *site, pleat_batch_answered *told)
{
    char name[PLEAT_BATCH_NAME_ROOM];
    snprintf(name, sizeof(name), "%scheck", site->prefix);
    json_t *params = json_pack("{sssisi}", "name", name, "count", 1, "nodes", 1);
    site->kind->wish(site->options, params);
    pleat_batch_adapter_ask(site->adapter, "cluster", json_object(), told, 0);
    pleat_batch_adapter_ask(site->adapter, "check", params, on_checked, 0);
}

static void on_accounts(void *arg, uint64_t token, const json_t *result,
                        const struct pleat_error *wrong)
{
    struct pleat_batch_site *site = arg;
    (void)token;
    json_decref(site->offer.accounts);
    site->offer.accounts = result ? json_incref((json_t *)(uintptr_t)result) : NULL;
    snprintf(site->offer.no_accounts, sizeof(site->offer.no_accounts), "%.290s",
             result ? "" : wrong->text);
}

void pleat_batch_offer_ask_accounts(struct pleat_batch_site *site)
{
    const char *cluster = pleat_reply_text(site->offer.cluster, "cluster", "");
    if (*cluster)
        pleat_batch_adapter_ask(site->adapter, "accounts", json_pack("{ss}", "cluster", cluster),
                                on_accounts, 0);
}

/* Borrowed from the answer, for somebody else. */
static json_t *list_or_null(const json_t *answer, const char *name)
{
    json_t *list = pleat_reply_array(answer, name);
    return list ? json_incref(list) : json_null();
}

static json_t *text_or_null(const char *text)
{
    return *text ? pleat_json_text(text) : json_null();
}

json_t *pleat_batch_offer_json(const struct pleat_batch_site *site)
{
    const struct pleat_batch_offer *offer = &site->offer;
    const char *part = site->kind->part(site->options);
    return json_pack(
        "{s:s, s:b, s:b, s:o, s:o, s:o, s:s?, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "title",
        site->kind->title, "adapter", pleat_batch_adapter_is_there(site->adapter), "answers",
        site->synced && !site->silent, "trouble", text_or_null(site->silent ? offer->trouble : ""),
        "cluster", text_or_null(pleat_reply_text(offer->cluster, "cluster", "")), "version",
        text_or_null(pleat_reply_text(offer->cluster, "version", "")), "part", part, "partitions",
        list_or_null(offer->cluster, "partitions"), "accounts",
        list_or_null(offer->accounts, "accounts"), "qos", list_or_null(offer->accounts, "qos"),
        "no_accounts", text_or_null(offer->no_accounts), "may",
        offer->checked ? json_boolean(offer->may) : json_null(), "refusal",
        text_or_null(offer->refusal), "agents", (json_int_t)offer->agents, "agent_trouble",
        text_or_null(offer->agent_trouble));
}

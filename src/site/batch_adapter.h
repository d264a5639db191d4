/* batch_adapter.h - the adapter program of a site: started, spoken with, started again when it
 * ends.
 *
 * Nothing here waits, and nothing calls back from within a call. Out of memory ends the process.
 */
#ifndef PLEAT_SITE_BATCH_ADAPTER_H
#define PLEAT_SITE_BATCH_ADAPTER_H

#include <jansson.h>

#include "site/batch_kind.h"

struct pleat_batch_adapter;

struct pleat_batch_adapter_callbacks {
    /* An adapter has been started, and can be asked. */
    void (*there)(void *arg);
    /* The adapter has ended; `why` is for people. All requests have been answered before. Another
     * one is started after a while. */
    void (*gone)(void *arg, const char *why);
    void (*notice)(void *arg, const char *method, const json_t *params);
};

/* An answer: *result, or what is wrong (result NULL). PLEAT_E_CLOSED: the adapter has ended, or
 * cannot reach the batch system. */
typedef void pleat_batch_answered(void *arg, uint64_t token, const json_t *result,
                                  const struct pleat_error *wrong);

/* own: the options of the kind. Options and callbacks are borrowed until the adapter is destroyed.
 * PLEAT_E_NOMEM. */
int pleat_batch_adapter_create(const struct pleat_batch_kind *kind, const void *own,
                               const struct pleat_host *host,
                               const struct pleat_batch_adapter_callbacks *callbacks, void *arg,
                               struct pleat_batch_adapter **adapter) PLEAT_MUST_CHECK;
/* No callback comes any more. Accepts NULL. */
void pleat_batch_adapter_destroy(struct pleat_batch_adapter *adapter);
bool pleat_batch_adapter_is_there(const struct pleat_batch_adapter *adapter);
/* Makes a request. params: stolen; NULL: could not be made. It is answered once, from the loop;
 * with PLEAT_E_CLOSED if no adapter is there. */
void pleat_batch_adapter_ask(struct pleat_batch_adapter *adapter, const char *method,
                             json_t *params, pleat_batch_answered *answered, uint64_t token);

#endif

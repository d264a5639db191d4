#include "app/items.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/items-home.h"
#include "app/items-save.h"
#include "app/session.h"

static uint64_t items_shape(const struct pleat_object *object)
{
    const char *text = pleat_items_of_const(object)->text;
    return pleat_session_hash(UINT64_C(0xcbf29ce484222325), text, strlen(text));
}

static void items_text(const struct pleat_object *object, char *text, size_t size)
{
    snprintf(text, size, "%s", pleat_items_of_const(object)->text);
}

/* ---- the object ---- */

static uint64_t items_stored(const struct pleat_object *object)
{
    (void)object;
    return 0; /* in the tail */
}

static int items_save(const struct pleat_object *object, struct pleat_state *state,
                      struct pleat_error *err)
{
    (void)object;
    (void)state;
    (void)err;
    return 0;
}

static int items_load(struct pleat_object *object, struct pleat_state *state, int data,
                      struct pleat_error *err)
{
    (void)object;
    (void)state;
    (void)data;
    (void)err;
    return 0;
}

static void items_detach(struct pleat_object *object)
{
    struct pleat_home *home = pleat_items_of(object)->home;
    if (home)
        pleat_home_detach(home);
}

static void items_destroy(struct pleat_object *object)
{
    struct pleat_items *items = pleat_items_of(object);
    pleat_items_forget(items);
    items->destroy(items);
}

/* Packs an item twice, over different bytes: bytes that the program's function does not write would
 * be lost in a move, and differ here. */
static int sum_item(const struct pleat_items *items, int64_t item, unsigned char *packed,
                    uint64_t *hash, struct pleat_error *err)
{
    const size_t bytes = (size_t)pleat_item_bytes(items, item);
    uint64_t sums[2];
    if (bytes > PLEAT_STATE_BYTES_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID, "'%s': item %" PRId64 " cannot be packed",
                               items->object.name, item);
    for (int i = 0; i < 2; i++) {
        memset(packed, i ? 0xff : 0, bytes);
        items->ops.pack(item, packed, items->arg);
        sums[i] = pleat_session_hash(UINT64_C(0xcbf29ce484222325), packed, bytes);
    }
    *hash = sums[0];
    return sums[0] == sums[1] ? 0
                              : pleat_error_set(err, PLEAT_E_CORRUPT,
                                                "'%s': item %" PRId64
                                                " has %zu bytes, and the program's function does "
                                                "not write all of them when it packs it, or others "
                                                "the second time",
                                                items->object.name, item, bytes);
}

static int items_sums(const struct pleat_object *object, struct pleat_sums *sums,
                      struct pleat_error *err)
{
    const struct pleat_items *items = pleat_items_of_const(object);
    const int64_t count = items->ops.count(items->arg);
    unsigned char *packed = malloc((size_t)pleat_items_room(items));
    int code = packed ? 0
                      : pleat_error_set(err, PLEAT_E_NOMEM, "no memory to sum the items of '%s'",
                                        object->name);
    *sums = (struct pleat_sums){.count = (uint64_t)count};
    for (int64_t i = 0; !code && i < count; i++) {
        uint64_t hash = 0;
        code = sum_item(items, i, packed, &hash, err);
        sums->hash += hash;
    }
    free(packed);
    return code;
}

static bool items_arranges(const struct pleat_object *object)
{
    return pleat_items_of_const(object)->ops.owner != NULL;
}

static const struct pleat_object_ops object_ops = {
    .shape = items_shape,
    .text = items_text,
    .prepare = pleat_items_prepare,
    .cancel = pleat_items_cancel,
    .exchange = pleat_items_exchange,
    .commit = pleat_items_commit,
    .moved = pleat_items_moved,
    .stored = items_stored,
    .save = items_save,
    .load = items_load,
    .fits = pleat_items_fits,
    .foresee = pleat_items_foresee,
    .detach = items_detach,
    .settle = pleat_items_settle,
    .tidy = pleat_items_tidy,
    .destroy = items_destroy,
};

static const struct pleat_tail_ops tail_ops = {
    .measure = pleat_items_measure,
    .place = pleat_items_place,
    .bytes = pleat_items_tail,
    .save = pleat_items_save_tail,
    .load = pleat_items_load_tail,
    .parts = pleat_items_parts,
    .needs = pleat_items_needs,
    .sums = items_sums,
    .arranges = items_arranges,
};

void pleat_items_live(struct pleat_items *items, struct pleat_home *home,
                      const struct pleat_home_ops *ops)
{
    items->home = home;
    items->home_ops = ops;
    home->name = items->object.name;
}

int pleat_items_add(struct pleat_session *session, struct pleat_items *items, const char *name,
                    const struct pleat_items_ops *ops, int64_t item_bytes, void *arg,
                    void (*destroy)(struct pleat_items *items), struct pleat_error *err)
{
    if (!ops || !ops->count || !ops->pack || !ops->open || !ops->unpack || !ops->close)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'%s': count, pack, open, unpack and close are all needed",
                               name ? name : "");
    if (ops->bytes ? item_bytes != 0 : item_bytes < 1 || item_bytes > INT_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'%s': items of %lld bytes: either all have 1 to %d, or there is a "
                               "function that says how many each has, and this is 0",
                               name ? name : "", (long long)item_bytes, INT_MAX);
    items->object.ops = &object_ops;
    items->object.tail = &tail_ops;
    items->object.offset = pleat_session_room(session);
    items->ops = *ops;
    items->arg = arg;
    items->item_bytes = item_bytes;
    items->destroy = destroy;
    return pleat_session_add(session, &items->object, name, err);
}

static void free_items(struct pleat_items *items)
{
    free(items);
}

int pleat_items_register(struct pleat_session *session, const char *name,
                         const struct pleat_items_ops *ops, int64_t item_bytes, void *arg,
                         struct pleat_error *err)
{
    struct pleat_items *items = calloc(1, sizeof(*items));
    if (!items)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory to register '%s'", name ? name : "");
    if (item_bytes)
        snprintf(items->text, sizeof(items->text), "items of %" PRId64 " bytes", item_bytes);
    else
        snprintf(items->text, sizeof(items->text), "items of any size");
    int code = pleat_items_add(session, items, name, ops, item_bytes, arg, free_items, err);
    if (code)
        free(items);
    return code;
}

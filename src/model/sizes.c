#include "model/sizes.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "model/types.h"

/* The largest r with r * r <= n, for 0 <= n <= PLEAT_SIZE_MAX (whose root is 4096). */
static int32_t root(int32_t n)
{
    int32_t low = 0, high = 4096;
    while (low < high) {
        int32_t middle = (low + high + 1) / 2;
        if (middle * middle <= n)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* How many sizes of the list are at most n. */
static uint32_t rank_in_list(const struct pleat_sizes *sizes, int32_t n)
{
    uint32_t low = 0, high = sizes->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (sizes->list[middle] <= n)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int32_t pleat_sizes_floor(const struct pleat_sizes *sizes, int32_t n)
{
    if (n < 1)
        return 0;
    if (n > PLEAT_SIZE_MAX)
        n = PLEAT_SIZE_MAX;
    switch (sizes->kind) {
    case PLEAT_SIZES_POWERS: {
        int32_t power = 1;
        while (power <= n / 2)
            power *= 2;
        return power;
    }
    case PLEAT_SIZES_SQUARES: {
        int32_t r = root(n);
        return r * r;
    }
    case PLEAT_SIZES_MULTIPLES:
        return n - n % sizes->step;
    case PLEAT_SIZES_GRIDS: {
        int32_t r = root(n);
        return r * (r + 1) <= n ? r * (r + 1) : r * r;
    }
    case PLEAT_SIZES_LIST: {
        uint32_t rank = rank_in_list(sizes, n);
        return rank ? sizes->list[rank - 1] : 0;
    }
    default:
        return n;
    }
}

int32_t pleat_sizes_ceil(const struct pleat_sizes *sizes, int32_t n)
{
    if (n < 1)
        n = 1;
    if (n > PLEAT_SIZE_MAX)
        return 0;
    int32_t below = pleat_sizes_floor(sizes, n);
    if (below == n)
        return n;
    int32_t above;
    switch (sizes->kind) {
    case PLEAT_SIZES_POWERS:
        above = below * 2;
        break;
    case PLEAT_SIZES_SQUARES: {
        int32_t r = root(n) + 1;
        above = r * r;
        break;
    }
    case PLEAT_SIZES_MULTIPLES:
        above = below + sizes->step;
        break;
    case PLEAT_SIZES_GRIDS: {
        int32_t r = root(n);
        above = r * (r + 1) >= n ? r * (r + 1) : (r + 1) * (r + 1);
        break;
    }
    case PLEAT_SIZES_LIST: {
        uint32_t rank = rank_in_list(sizes, n);
        above = rank < sizes->count ? sizes->list[rank] : 0;
        break;
    }
    default:
        above = n;
        break;
    }
    return above <= PLEAT_SIZE_MAX ? above : 0;
}

/* A positive number at *text, which is moved past it; 0 when there is none. */
static int32_t read_size(const char **text)
{
    char *end;
    errno = 0;
    long value = strtol(*text, &end, 10);
    if (end == *text || errno || value < 1 || value > PLEAT_SIZE_MAX)
        return 0;
    *text = end;
    return (int32_t)value;
}

static int parse_list(const char *text, struct pleat_sizes *sizes, struct pleat_size_list *list,
                      struct pleat_error *err)
{
    const char *at = text;
    list->count = 0;
    for (;;) {
        int32_t size = read_size(&at);
        if (!size || (*at && *at != ','))
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "accepted sizes '%s': expected any, powers, squares, "
                                   "multiples:N, grids, or a list such as 2,4,6,9",
                                   text);
        if (list->count && size <= list->items[list->count - 1])
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "accepted sizes '%s': %d does not follow %d; a list must "
                                   "increase",
                                   text, size, list->items[list->count - 1]);
        if (list->count == PLEAT_SIZES_LIST_MAX)
            return pleat_error_set(err, PLEAT_E_TOOBIG, "accepted sizes: at most %d in a list",
                                   PLEAT_SIZES_LIST_MAX);
        if (pleat_array_push(list, size))
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
        if (!*at)
            break;
        at++;
    }
    *sizes = (struct pleat_sizes){
        .kind = PLEAT_SIZES_LIST, .list = list->items, .count = (uint32_t)list->count};
    return 0;
}

int pleat_sizes_parse(const char *text, struct pleat_sizes *sizes, struct pleat_size_list *list,
                      struct pleat_error *err)
{
    static const struct {
        const char *name;
        enum pleat_sizes_kind kind;
    } words[] = {{"any", PLEAT_SIZES_ANY},
                 {"powers", PLEAT_SIZES_POWERS},
                 {"squares", PLEAT_SIZES_SQUARES},
                 {"grids", PLEAT_SIZES_GRIDS}};
    list->count = 0;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (!strcmp(text, words[i].name)) {
            *sizes = (struct pleat_sizes){.kind = words[i].kind};
            return 0;
        }
    }
    if (!strncmp(text, "multiples:", 10)) {
        const char *at = text + 10;
        int32_t step = read_size(&at);
        if (!step || *at)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "accepted sizes '%s': expected multiples:N with N from 1 to %d",
                                   text, PLEAT_SIZE_MAX);
        *sizes = (struct pleat_sizes){.kind = PLEAT_SIZES_MULTIPLES, .step = step};
        return 0;
    }
    return parse_list(text, sizes, list, err);
}

int pleat_sizes_common(const struct pleat_sizes *a, const struct pleat_sizes *b, int32_t most,
                       struct pleat_sizes *sizes, struct pleat_size_list *list,
                       struct pleat_error *err)
{
    const struct pleat_sizes *other = a->kind == PLEAT_SIZES_ANY ? b : a;
    list->count = 0;
    if ((a->kind == PLEAT_SIZES_ANY || b->kind == PLEAT_SIZES_ANY) &&
        other->kind != PLEAT_SIZES_LIST) {
        *sizes = *other;
        return 0;
    }
    for (int32_t n = pleat_sizes_ceil(a, 1); n > 0 && n <= most; n = pleat_sizes_ceil(a, n + 1)) {
        if (pleat_sizes_floor(b, n) != n)
            continue;
        if (list->count == PLEAT_SIZES_LIST_MAX)
            return pleat_error_set(err, PLEAT_E_TOOBIG, "accepted sizes: at most %d in a list",
                                   PLEAT_SIZES_LIST_MAX);
        if (pleat_array_push(list, n))
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    if (!list->count)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "no size up to %d is accepted by both", most);
    *sizes = (struct pleat_sizes){
        .kind = PLEAT_SIZES_LIST, .list = list->items, .count = (uint32_t)list->count};
    return 0;
}

bool pleat_sizes_are_multiples(const struct pleat_sizes *sizes, int32_t step)
{
    if (sizes->kind == PLEAT_SIZES_MULTIPLES)
        return sizes->step % step == 0;
    if (sizes->kind != PLEAT_SIZES_LIST)
        return step == 1;
    for (uint32_t i = 0; i < sizes->count; i++)
        if (sizes->list[i] % step != 0)
            return false;
    return true;
}

/* As a list. Sizes above `most` belong to it, too, as long as the list stays short: limits may be
 * changed later. */
static int scale_by_list(const struct pleat_sizes *sizes, int32_t times, int32_t most,
                         struct pleat_string *out, struct pleat_error *err)
{
    enum { SHORT = 32 };
    uint32_t count = 0;
    for (int32_t n = pleat_sizes_ceil(sizes, 1); n > 0 && n <= PLEAT_SIZE_MAX / times;
         n = pleat_sizes_ceil(sizes, n + 1)) {
        if (n > most && count >= SHORT)
            break;
        if (count == PLEAT_SIZES_LIST_MAX)
            return pleat_error_set(err, PLEAT_E_TOOBIG,
                                   "accepted sizes: more than %d up to %d, %d times each: they "
                                   "cannot be listed",
                                   PLEAT_SIZES_LIST_MAX, most, times);
        pleat_string_addf(out, "%s%d", count++ ? "," : "", n * times);
    }
    return 0;
}

int pleat_sizes_scale(const struct pleat_sizes *sizes, int32_t times, int32_t most,
                      struct pleat_string *out, struct pleat_error *err)
{
    int code = 0;
    if (times == 1)
        pleat_sizes_format(sizes, out);
    else if (sizes->kind == PLEAT_SIZES_ANY)
        pleat_string_addf(out, "multiples:%d", times);
    else if (sizes->kind == PLEAT_SIZES_MULTIPLES && sizes->step <= PLEAT_SIZE_MAX / times)
        pleat_string_addf(out, "multiples:%d", sizes->step * times);
    else
        code = scale_by_list(sizes, times, most, out, err);
    if (!code && out->failed)
        code = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    return code;
}

void pleat_sizes_format(const struct pleat_sizes *sizes, struct pleat_string *out)
{
    switch (sizes->kind) {
    case PLEAT_SIZES_POWERS:
        pleat_string_add(out, "powers");
        break;
    case PLEAT_SIZES_SQUARES:
        pleat_string_add(out, "squares");
        break;
    case PLEAT_SIZES_MULTIPLES:
        pleat_string_addf(out, "multiples:%d", sizes->step);
        break;
    case PLEAT_SIZES_GRIDS:
        pleat_string_add(out, "grids");
        break;
    case PLEAT_SIZES_LIST:
        for (uint32_t i = 0; i < sizes->count; i++)
            pleat_string_addf(out, "%s%d", i ? "," : "", sizes->list[i]);
        break;
    default:
        pleat_string_add(out, "any");
        break;
    }
}

#include "policy/files.h"

static int64_t bytes_per_s(const struct pleat_view *view, uint32_t from, uint32_t to)
{
    uint32_t low = 0, high = view->link_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        const struct pleat_link *link = &view->links[middle];
        if (link->from == from && link->to == to)
            return link->bytes_per_s;
        if (link->from < from || (link->from == from && link->to < to))
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

static int64_t copy_time(const struct pleat_view *view, const struct pleat_input *input,
                         uint32_t site)
{
    if (input->site == site)
        return 0;
    int64_t rate = bytes_per_s(view, input->site, site);
    double us = rate > 0 ? (double)input->bytes / (double)rate * 1e6 : 0;
    if (rate <= 0 || us > (double)(PLEAT_NEVER / 64))
        return PLEAT_NEVER;
    return (int64_t)us + 1; /* not before the last byte */
}

/* How long bringing the file of an entry takes, if the entry is the first of this file; else 0. */
static int64_t file_time(const struct pleat_view *view, uint32_t first, uint32_t entry,
                         uint32_t site)
{
    int64_t best_us = PLEAT_NEVER;
    bool before = true;
    for (uint32_t i = first; i != PLEAT_NONE; i = view->inputs[i].next) {
        before = before && i != entry;
        if (view->inputs[i].file != view->inputs[entry].file)
            continue;
        if (before)
            return 0; /* counted already */
        int64_t us = copy_time(view, &view->inputs[i], site);
        best_us = us < best_us ? us : best_us;
    }
    return best_us;
}

int64_t pleat_view_transfer(const struct pleat_view *view, const struct pleat_component *component,
                            uint32_t site)
{
    const struct pleat_coallocation *files = pleat_view_coallocation(view, component);
    int64_t sum_us = 0;
    if (files->files_site == site)
        return files->files_us > view->now_us ? files->files_us - view->now_us : 0;
    for (uint32_t i = files->first_input; i != PLEAT_NONE; i = view->inputs[i].next) {
        int64_t us = file_time(view, files->first_input, i, site);
        if (us == PLEAT_NEVER || sum_us > PLEAT_NEVER / 64)
            return PLEAT_NEVER;
        sum_us += us;
    }
    return sum_us;
}

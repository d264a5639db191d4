#include "cli/jobs/sizes_text.h"

#include "cli/common/reply.h"

#define SHOWN_MAX 12

void pleat_sizes_add_text(const struct pleat_term *term, const json_t *sizes,
                          struct pleat_string *out)
{
    PLEAT_ARRAY(, int64_t) values = {0};
    size_t i;
    json_t *size;
    json_array_foreach(sizes, i, size)
    {
        int64_t value = pleat_reply_int(size, "processors", -1);
        if (value <= 0 || (values.count && values.items[values.count - 1] == value))
            continue; /* 0: the job has ended */
        if (pleat_array_push(&values, value)) {
            out->failed = 1;
            break;
        }
    }
    const char *arrow = term->utf8 ? "\u2192" : "->";
    for (i = 0; i < values.count; i++) {
        if (values.count > SHOWN_MAX && i == SHOWN_MAX / 2) {
            pleat_string_addf(out, "%s..", arrow);
            i = values.count - SHOWN_MAX / 2;
        }
        pleat_string_addf(out, "%s%lld", i ? arrow : "", (long long)values.items[i]);
    }
    pleat_array_finish(&values);
}

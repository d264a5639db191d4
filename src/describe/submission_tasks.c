/* submission_tasks.c - sizes of a job whose processes have several processors each. */
#include <string.h>

#include "describe/submission.h"
#include "model/sizes.h"
#include "model/types.h"

int pleat_submission_scale_sizes(const struct pleat_submission *submission, int64_t most,
                                 char **sizes, struct pleat_error *err)
{
    struct pleat_sizes given;
    struct pleat_size_list list = {0};
    struct pleat_string text = {0};
    int status = pleat_sizes_parse(submission->sizes, &given, &list, err);
    if (!status)
        status = pleat_sizes_scale(&given, (int32_t)submission->cpus, (int32_t)most, &text, err);
    pleat_array_finish(&list);
    if (status) {
        pleat_string_finish(&text);
        return pleat_error_prefix(err, "--sizes");
    }
    *sizes = text.text;
    return 0;
}

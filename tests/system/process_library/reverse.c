/* Asks for a process, sends it bytes, and gets them back in reverse: docs/processes.md. */
#include <pleat-process.h>
#include <stdio.h>

static int must(int outcome, const struct pleat_error *err)
{
    if (outcome < 0)
        fprintf(stderr, "%s\n", err->text);
    return outcome;
}

int main(void)
{
    struct pleat_processes *all;
    struct pleat_process_message message = {0};
    struct pleat_error err;
    char text[5];
    int32_t other;
    int what = must(pleat_processes_begin(&all, NULL, &err), &err);
    if (what == PLEAT_PROCESS_STARTED) {
        if (must(pleat_process_add(all, NULL, &other, &err), &err) > 0 &&
            must(pleat_process_send(all, other, 1, "olleh", 5, -1, &err), &err) == 0 &&
            must(pleat_process_receive(all, other, 2, text, 5, NULL, -1, &err), &err) == 0)
            printf("%.5s\n", text);
    } else if (what == PLEAT_PROCESS_JOINED) {
        if (must(pleat_process_receive(all, PLEAT_PROCESS_ANY, 1, text, 5, &message, -1, &err),
                 &err) == 0 &&
            must(pleat_process_group_join(all, "reversers", &err), &err) == 0) {
            for (int i = 0; i < 2; i++) {
                char c = text[i];
                text[i] = text[4 - i];
                text[4 - i] = c;
            }
            what = must(pleat_process_send(all, message.from, 2, text, 5, -1, &err), &err);
        }
    }
    if (what > 0 || what == 0)
        what = must(pleat_processes_finish(all, &err), &err);
    return what < 0;
}

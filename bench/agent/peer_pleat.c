/* One of two processes of libpleat-process. usage: peer_pleat PERCENT */
#include <stdio.h>
#include <stdlib.h>

#include "agent/cases.h"
#include "pleat-process.h"

static struct pleat_processes *all;
static struct pleat_error err;
static int32_t other;

static void must(int outcome)
{
    if (outcome) {
        fprintf(stderr, "%s\n", outcome < 0 ? err.text : "a wait was cut short");
        exit(1);
    }
}

static void send_bytes(const void *bytes, size_t count)
{
    must(pleat_process_send(all, other, 1, bytes, count, -1, &err));
}

static void receive_bytes(void *bytes, size_t count)
{
    must(pleat_process_receive(all, other, 1, bytes, count, NULL, -1, &err));
}

int main(int argc, char **argv)
{
    const struct wire wire = {send_bytes, receive_bytes};
    int begun = pleat_processes_begin(&all, NULL, &err);
    must(begun < 0 ? begun : 0);
    other = 1 - pleat_process_self(all);
    cases_run(&wire, other == 1, argc > 1 ? atoi(argv[1]) : 100);
    must(pleat_processes_finish(all, &err));
    return 0;
}

/* The fuzz function of what Grid Engine says, on a fixed set of mutated inputs: what a fuzzer would
 * do first, with any compiler and always the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gridengine_fuzz.h"
#include "mutate.h"

enum { ROOM = 1024 };

static const char *const seeds[] = {
    "<job_info><queue_info><job_list state='running'><JB_job_number>1</JB_job_number>"
    "<JB_name>a=b&lt;</JB_name><state>r</state><JAT_start_time>2026-11-24T03:24:04</JAT_start_time>"
    "<queue_name>all.q@g1</queue_name><slots>2</slots><hard_request name='h_rt'>60</hard_request>"
    "</job_list></queue_info></job_info>",
    "<j><q><Queue-List><slots_used>1</slots_used><slots_total>4</slots_total></Queue-List></q>"
    "<i><job_list><JB_job_number>9</JB_job_number><state>qw</state><slots>4</slots></job_list></i>"
    "</j>",
    "<qhost><host name='g1'><hostvalue name='num_proc'>2</hostvalue><hostvalue name='mem_total'>"
    "23.5G</hostvalue><queue name='a'><queuevalue name='slots'>4</queuevalue><queuevalue "
    "name='state_string'>d</queuevalue></queue></host></qhost>"};
static const char *const pieces[] = {"<",    "</",   ">",    "&lt;", "&#0;", "\xff",     "1",
                                     "<a>",  "</a>", "'",    "dr",   "qw",   "99999999", "]]>",
                                     "<!--", "<?",   "\x01", "-",    "E",    "\xc3\xa9", "e999"};
static const struct mutation how = {
    .pieces = pieces, .piece_count = sizeof(pieces) / sizeof(*pieces), .first = 0, .room = ROOM};

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
    struct pleat_random random;
    char bytes[ROOM];
    pleat_random_init(&random, 20261124);
    for (unsigned long round = 0; round < rounds; round++) {
        const char *seed = seeds[pleat_random_below(&random, sizeof(seeds) / sizeof(seeds[0]))];
        memcpy(bytes, seed, strlen(seed));
        pleat_fuzz_gridengine((const uint8_t *)bytes, mutate(&how, &random, bytes, strlen(seed)));
    }
    printf("%lu documents in %lu inputs\n", pleat_fuzz_gridengine_documents, rounds);
    /* the inputs must reach what they are there to test */
    return pleat_fuzz_gridengine_documents > rounds / 50 ? 0 : 1;
}

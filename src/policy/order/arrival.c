/* In order of arrival; a component that has to start again stands in front. */
#include "policy/policies.h"

const struct pleat_policy pleat_policy_arrival = {
    .number = 1,
    .version = 1,
    .question = PLEAT_ORDER,
    .name = "arrival",
    .source = "textbook",
    .summary = "in the order of submission",
};

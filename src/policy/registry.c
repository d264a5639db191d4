#include <string.h>

#include "policy/policies.h"

static const struct pleat_policy *const all[] = {
#define POLICY(name) &pleat_policy_##name,
#include "policy/policies.def"
#undef POLICY
};

const struct pleat_policy *pleat_policy_at(size_t i)
{
    return i < sizeof(all) / sizeof(all[0]) ? all[i] : NULL;
}

const struct pleat_policy *pleat_policy_find(enum pleat_question question, const char *name)
{
    for (size_t i = 0; pleat_policy_at(i); i++)
        if (all[i]->question == question && !strcmp(all[i]->name, name))
            return all[i];
    return NULL;
}

const struct pleat_policy *pleat_policy_get(enum pleat_question question, uint32_t number)
{
    for (size_t i = 0; pleat_policy_at(i); i++)
        if (all[i]->question == question && all[i]->number == number)
            return all[i];
    return NULL;
}

const struct pleat_policy *pleat_policy_default(enum pleat_question question)
{
    for (size_t i = 0; pleat_policy_at(i); i++)
        if (all[i]->question == question)
            return all[i];
    return NULL;
}

const char *pleat_question_name(enum pleat_question question)
{
    static const char *const names[] = {"approach",    "queue",        "placement",
                                        "moldability", "malleability", "order",
                                        "buffer",      "need",         "reward"};
    return question < PLEAT_QUESTION_COUNT ? names[question] : "?";
}

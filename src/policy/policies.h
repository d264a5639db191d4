/* policies.h - all policies there are (policies.def); registry.c lists them for users. */
#ifndef PLEAT_POLICY_POLICIES_H
#define PLEAT_POLICY_POLICIES_H

#include "policy/pass.h"

#define POLICY(name) extern const struct pleat_policy pleat_policy_##name;
#include "policy/policies.def"
#undef POLICY

#endif

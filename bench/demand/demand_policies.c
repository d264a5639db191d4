/* demand_policies.c - what is compared, live and simulated. */
#include "demand/demand.h"

const struct demand_policy demand_policies[DEMAND_POLICIES] = {
    [DEMAND_NONE] = {"none", "none", false},
    [DEMAND_P] = {"P", "periodic", false},
    [DEMAND_PP] = {"PP", "periodic-prediction", false},
    [DEMAND_P_OWN] = {"P, own", "periodic", true},
    [DEMAND_PP_OWN] = {"PP, own", "periodic-prediction", true},
    [DEMAND_COMBINED] = {"combined", "combined", false},
};

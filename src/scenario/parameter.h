/* parameter.h - parameters of the core, as pleat.conf names them. */
#ifndef PLEAT_SCENARIO_PARAMETER_H
#define PLEAT_SCENARIO_PARAMETER_H

#include "base/error.h"
#include "model/types.h"

/* Sets the parameter of that name ("claim_s", "max_tries"), of PLEAT_PARAM_COUNT. PLEAT_E_NOTFOUND:
 * there is none; PLEAT_E_INVALID: it cannot have that value. */
int pleat_parameter_read(const char *name, const char *value, int64_t *parameters,
                         struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

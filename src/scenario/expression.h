/* expression.h - formulas: "flops / num_nodes^0.8 + 3". */
#ifndef PLEAT_SCENARIO_EXPRESSION_H
#define PLEAT_SCENARIO_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Gives the value of a variable; false: there is none of that name (of `length` bytes). */
typedef bool pleat_variable(void *context, const char *name, size_t length, double *value);

/* Computes a formula: numbers, variables, + - * / % ^, parentheses, and the functions abs, ceil,
 * exp, floor, log, log10, log2, max, min, pow, round, sqrt. *value may be infinite, or no number.
 * PLEAT_E_INVALID: err says what is wrong, at which character. */
int pleat_expression(const char *text, pleat_variable *variable, void *context, double *value,
                     struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

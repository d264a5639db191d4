/* test.h - what every unit test includes before its own headers. */
#ifndef PLEAT_TESTS_UNIT_TEST_H
#define PLEAT_TESTS_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif

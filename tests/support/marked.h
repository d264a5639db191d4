/* marked.h - processes that a test or a benchmark has started, however many generations ago: all
 * that inherited a variable of the environment. */
#ifndef PLEAT_TESTS_SUPPORT_MARKED_H
#define PLEAT_TESTS_SUPPORT_MARKED_H

/* Sends the signal (0: none) to every process but the caller in whose environment, as it was when
 * its program began, is `mark` ("NAME=VALUE"); returns how many there are. None has the mark "". */
int marked_signal(const char *mark, int number);

#endif

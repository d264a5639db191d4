/* crash.h - kills an agent at a step of its own choosing, for tests */
#ifndef PLEAT_AGENT_CRASH_H
#define PLEAT_AGENT_CRASH_H

/* Ends the agent as SIGKILL does, if the environment has PLEAT_TEST_AGENT_CRASH with the path of a
 * file that has the two words, a space between them. The file is removed, so it happens once. */
void pleat_agent_crash_point(const char *who, const char *step);

#endif

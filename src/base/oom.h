/* oom.h - whom the kernel ends first when memory is used up (/proc/PID/oom_score_adj). */
#ifndef PLEAT_BASE_OOM_H
#define PLEAT_BASE_OOM_H

/* This process goes after others, where the system allows that; else as one that says nothing. */
void pleat_oom_last(void);
/* This process, and what it starts, goes before others. Safe after a fork. */
void pleat_oom_first(void);

#endif

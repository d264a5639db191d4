/* oom.h - which processes the kernel kills first when memory is used up (/proc/PID/oom_score_adj).
 */
#ifndef PLEAT_BASE_OOM_H
#define PLEAT_BASE_OOM_H

/* Has this process killed after others, if the system allows that; else like others. */
void pleat_oom_last(void);
/* Has this process, and what it starts, killed before others. Safe after a fork. */
void pleat_oom_first(void);

#endif

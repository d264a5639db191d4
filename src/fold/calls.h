/* calls.h - macros that write out the rows of calls.def: PARAMETERS_2(int, Comm) is "int a1, Comm
 * a2", ARGUMENTS_2 is "a1, a2".
 */
#ifndef PLEAT_FOLD_CALLS_H
#define PLEAT_FOLD_CALLS_H

#define PARAMETERS_0() void
#define PARAMETERS_1(t1) t1 a1
#define PARAMETERS_2(t1, t2) PARAMETERS_1(t1), t2 a2
#define PARAMETERS_3(t1, t2, t3) PARAMETERS_2(t1, t2), t3 a3
#define PARAMETERS_4(t1, t2, t3, t4) PARAMETERS_3(t1, t2, t3), t4 a4
#define PARAMETERS_5(t1, t2, t3, t4, t5) PARAMETERS_4(t1, t2, t3, t4), t5 a5
#define PARAMETERS_6(t1, t2, t3, t4, t5, t6) PARAMETERS_5(t1, t2, t3, t4, t5), t6 a6
#define PARAMETERS_7(t1, t2, t3, t4, t5, t6, t7) PARAMETERS_6(t1, t2, t3, t4, t5, t6), t7 a7
#define PARAMETERS_8(t1, t2, t3, t4, t5, t6, t7, t8) PARAMETERS_7(t1, t2, t3, t4, t5, t6, t7), t8 a8
#define PARAMETERS_9(t1, t2, t3, t4, t5, t6, t7, t8, t9)                                           \
    PARAMETERS_8(t1, t2, t3, t4, t5, t6, t7, t8), t9 a9
#define PARAMETERS_10(t1, t2, t3, t4, t5, t6, t7, t8, t9, t10)                                     \
    PARAMETERS_9(t1, t2, t3, t4, t5, t6, t7, t8, t9), t10 a10
#define PARAMETERS_11(t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11)                                \
    PARAMETERS_10(t1, t2, t3, t4, t5, t6, t7, t8, t9, t10), t11 a11
#define PARAMETERS_12(t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12)                           \
    PARAMETERS_11(t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11), t12 a12
#define PARAMETERS_13(t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13)                      \
    PARAMETERS_12(t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12), t13 a13

#define ARGUMENTS_0
#define ARGUMENTS_1 a1
#define ARGUMENTS_2 ARGUMENTS_1, a2
#define ARGUMENTS_3 ARGUMENTS_2, a3
#define ARGUMENTS_4 ARGUMENTS_3, a4
#define ARGUMENTS_5 ARGUMENTS_4, a5
#define ARGUMENTS_6 ARGUMENTS_5, a6
#define ARGUMENTS_7 ARGUMENTS_6, a7
#define ARGUMENTS_8 ARGUMENTS_7, a8
#define ARGUMENTS_9 ARGUMENTS_8, a9
#define ARGUMENTS_10 ARGUMENTS_9, a10
#define ARGUMENTS_11 ARGUMENTS_10, a11
#define ARGUMENTS_12 ARGUMENTS_11, a12
#define ARGUMENTS_13 ARGUMENTS_12, a13

#endif

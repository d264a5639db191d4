/* points.h - what the program that measures its own adaptation points prints, and who reads it. */
#ifndef PLEAT_BENCH_POINTS_H
#define PLEAT_BENCH_POINTS_H

/* In the order of its lines. */
enum points_kind { POINTS_CLOCK, POINTS_UNNAMED, POINTS_NAMED, POINTS_TIMES, POINTS_KINDS };

#define POINTS_LINE "ns %.2f %.2f %.2f %.2f\n"
#define POINTS_READ "ns %lf %lf %lf %lf"

#endif

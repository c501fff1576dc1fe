#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

/* One measurement a process, shared by every benchmark program so that all of them count alike. */

/* Starts the clocks (wall, CPU of all threads, context switches) and resets the peak of resident memory. */
void bench_begin(void);

/* Stops the clocks. What follows (tear-down, printing) is not counted. */
void bench_end(void);

/* Adds a figure of the mode's own to the line that bench_print writes. At most eight; more are dropped. */
void bench_note(const char *key, double value);

/* Writes the measurement as one JSON line to standard output. */
void bench_print(const char *mode, long long requests, long long bytes);

/* Resident memory now and at its peak since bench_begin, in KiB, exact; -1 where /proc doesn't tell. */
long bench_resident_kib(void);
long bench_peak_resident_kib(void);

#endif

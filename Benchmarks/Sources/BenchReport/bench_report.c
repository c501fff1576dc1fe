#include "bench_report.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct snapshot {
  double wall;
  double cpu;
  long voluntary;
  long involuntary;
};

enum { MAX_NOTES = 8 };

static struct snapshot began, ended;
static long peak_at_end;
static struct {
  const char *key;
  double value;
} notes[MAX_NOTES];
static int note_count;

static double seconds(struct timeval value) { return (double)value.tv_sec + (double)value.tv_usec / 1e6; }

static struct snapshot take_snapshot(void) {
  struct timespec now;
  struct rusage usage;
  clock_gettime(CLOCK_MONOTONIC, &now);
  getrusage(RUSAGE_SELF, &usage);
  return (struct snapshot){
      .wall = (double)now.tv_sec + (double)now.tv_nsec / 1e9,
      .cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime),
      .voluntary = usage.ru_nvcsw,
      .involuntary = usage.ru_nivcsw,
  };
}

static long read_kib(const char *path, const char *field) {
  char line[256];
  long value = -1;
  FILE *file = fopen(path, "re");
  if (!file) return -1;
  while (fgets(line, sizeof line, file)) {
    if (strncmp(line, field, strlen(field)) == 0) {
      if (sscanf(line + strlen(field), "%ld", &value) != 1) value = -1;
      break;
    }
  }
  fclose(file);
  return value;
}

/* statm and VmRSS are kept per CPU and may lag by some pages; smaps_rollup walks the tables. */
long bench_resident_kib(void) { return read_kib("/proc/self/smaps_rollup", "Rss:"); }

/* Not ru_maxrss: that one survives exec, so it would tell the memory of the runner that started us. */
long bench_peak_resident_kib(void) { return read_kib("/proc/self/status", "VmHWM:"); }

void bench_begin(void) {
  int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (fd >= 0) {
    /* "5" resets the peak; where that is forbidden the peak counts from the start of the process. */
    ssize_t written = write(fd, "5", 1);
    (void)written;
    close(fd);
  }
  note_count = 0;
  began = take_snapshot();
}

void bench_end(void) {
  ended = take_snapshot();
  peak_at_end = bench_peak_resident_kib();
}

void bench_note(const char *key, double value) {
  if (note_count == MAX_NOTES) return;
  notes[note_count].key = key;
  notes[note_count].value = value;
  note_count++;
}

void bench_print(const char *mode, long long requests, long long bytes) {
  printf("{\"mode\":\"%s\",\"requests\":%lld,\"bytes\":%lld,\"seconds\":%.6f,\"cpu_seconds\":%.6f,"
         "\"peak_rss_kib\":%ld,\"voluntary_switches\":%ld,\"involuntary_switches\":%ld",
         mode, requests, bytes, ended.wall - began.wall, ended.cpu - began.cpu, peak_at_end,
         ended.voluntary - began.voluntary, ended.involuntary - began.involuntary);
  for (int i = 0; i < note_count; i++) printf(",\"%s\":%.3f", notes[i].key, notes[i].value);
  printf("}\n");
  fflush(stdout);
}

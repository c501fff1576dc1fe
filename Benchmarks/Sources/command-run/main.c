/* Runs another program, such as curl, and prints the line that our own programs print: the time from its start
   to its end, its CPU, its peak memory. It is small itself, as the kernel counts the memory of whoever forks. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval value) { return (double)value.tv_sec + (double)value.tv_usec / 1e6; }

int main(int count, char **arguments) {
  long long requests = 0, bytes = 0;
  if (count < 4) {
    fprintf(stderr, "usage: command-run MODE FILE COMMAND...   (FILE: what the command makes)\n"
                    "       command-run MODE NxB COMMAND...    (N requests of B bytes each)\n");
    return 2;
  }
  bool is_counted = sscanf(arguments[2], "%lldx%lld", &requests, &bytes) == 2;
  /* What an earlier run has left is no work of this one. */
  if (!is_counted) unlink(arguments[2]);
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  pid_t child = fork();
  if (child == 0) {
    execvp(arguments[3], arguments + 3);
    perror(arguments[3]);
    _exit(127);
  }
  int status = 0;
  struct rusage usage;
  if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
    fprintf(stderr, "command-run: %s failed\n", arguments[3]);
    return 1;
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  struct stat made;
  if (!is_counted) {
    if (stat(arguments[2], &made) != 0) {
      perror(arguments[2]);
      return 1;
    }
    requests = 1;
    bytes = (long long)made.st_size;
  }
  printf("{\"mode\":\"%s\",\"requests\":%lld,\"bytes\":%lld,\"seconds\":%.6f,\"cpu_seconds\":%.6f,"
         "\"peak_rss_kib\":%ld,\"voluntary_switches\":%ld,\"involuntary_switches\":%ld}\n",
         arguments[1], requests, requests * bytes,
         (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9,
         seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss, usage.ru_nvcsw, usage.ru_nivcsw);
  return 0;
}

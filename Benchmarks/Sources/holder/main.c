/*
 * A peer for what nginx can't do: GET /hold answers with a head and a few bytes, then keeps the stream open;
 * GET /ticks the same with an event a second, numbered from 0; GET /slow answers after two seconds;
 * PUT /stall reads nothing of the body for three seconds and then drains it; PUT /sink drains it at once.
 * `holder` listens on a free port of 127.0.0.1, prints it, and runs until it is terminated.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { STALL_MS = 3000, SLOW_MS = 2000, SLOTS = 100, MAX_FDS = 65536, HEAD_LIMIT = 4096, BLOCK = 256 * 1024 };

struct connection {
  enum { READS_HEAD, HOLDS, TICKS, STALLS, DRAINS, WAITS } state;
  int head_length;
  long long body_left;  /* negative: chunked, ends with an empty chunk */
  char tail[5];         /* the last bytes of a chunked body */
  long long resumes_ms; /* STALLS: when reading begins; WAITS: when the answer is due */
  long ticks;           /* TICKS: events that were sent */
  char *head;
};

static struct connection *connections[MAX_FDS];
static int stalled[MAX_FDS], stalled_count;
static long long ticked_ms; /* up to when events were sent */
static int ticking_count, highest_fd;
static char block[BLOCK];
static int poller;

static const char held_answer[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n";
static const char ticking_answer[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 0\n\n";
static const char drained_answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

static long long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void interest(int fd, int operation, unsigned events) {
  struct epoll_event event = {.events = events, .data.fd = fd};
  epoll_ctl(poller, operation, fd, &event);
}

static void drop(int fd) {
  if (connections[fd]->state == TICKS) ticking_count--;
  free(connections[fd]->head);
  free(connections[fd]);
  connections[fd] = NULL;
  for (int i = 0; i < stalled_count; i++)
    if (stalled[i] == fd) stalled[i--] = stalled[--stalled_count];
  close(fd);
}

static void answer(int fd, const char *text, size_t length) {
  if (send(fd, text, length, MSG_NOSIGNAL) != (ssize_t)length) drop(fd);
}

static void accept_all(int listener) {
  int fd;
  while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
    struct connection *connection = fd < MAX_FDS ? calloc(1, sizeof *connection) : NULL;
    int on = 1;
    if (!connection) {
      close(fd);
      continue;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connections[fd] = connection;
    if (fd > highest_fd) highest_fd = fd;
    interest(fd, EPOLL_CTL_ADD, EPOLLIN);
  }
}

/* Counts body bytes; returns true once the body is complete. */
static bool consume(struct connection *connection, const char *bytes, size_t length) {
  if (connection->body_left >= 0) {
    connection->body_left -= (long long)length;
    return connection->body_left <= 0;
  }
  size_t kept = length < sizeof connection->tail ? length : sizeof connection->tail;
  memmove(connection->tail, connection->tail + kept, sizeof connection->tail - kept);
  memcpy(connection->tail + sizeof connection->tail - kept, bytes + length - kept, kept);
  return memcmp(connection->tail, "0\r\n\r\n", 5) == 0;
}

static void finish_body(int fd) {
  connections[fd]->state = READS_HEAD;
  connections[fd]->head_length = 0;
  memset(connections[fd]->tail, 0, sizeof connections[fd]->tail);
  answer(fd, drained_answer, sizeof drained_answer - 1);
}

static void begin_body(int fd, const char *rest, size_t length) {
  struct connection *connection = connections[fd];
  const char *field = strcasestr(connection->head, "\r\ncontent-length:");
  connection->body_left = field ? atoll(field + 17) : -1;
  bool stalls = strstr(connection->head, " /stall") != NULL;
  if ((connection->body_left == 0 || (length > 0 && consume(connection, rest, length))) && !stalls) {
    finish_body(fd);
  } else if (stalls) {
    connection->state = STALLS;
    connection->resumes_ms = now_ms() + STALL_MS;
    stalled[stalled_count++] = fd;
    interest(fd, EPOLL_CTL_MOD, 0);
  } else {
    connection->state = DRAINS;
  }
}

static void read_head(int fd) {
  struct connection *connection = connections[fd];
  if (!connection->head) connection->head = malloc(HEAD_LIMIT + 1);
  if (!connection->head || connection->head_length == HEAD_LIMIT) return drop(fd);
  char *target = connection->head + connection->head_length;
  ssize_t got = recv(fd, target, (size_t)(HEAD_LIMIT - connection->head_length), 0);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) return drop(fd);
  connection->head_length += (int)got;
  connection->head[connection->head_length] = '\0';
  char *end = strstr(connection->head, "\r\n\r\n");
  if (!end) return;
  size_t rest = (size_t)(connection->head + connection->head_length - (end + 4));
  if (strncmp(connection->head, "GET /slow", 9) == 0) {
    connection->state = WAITS;
    connection->resumes_ms = now_ms() + SLOW_MS;
    stalled[stalled_count++] = fd;
  } else if (strncmp(connection->head, "GET /ticks", 10) == 0) {
    free(connection->head);
    connection->head = NULL;
    connection->state = TICKS;
    connection->ticks = 1;
    if (ticking_count++ == 0) ticked_ms = now_ms();
    answer(fd, ticking_answer, sizeof ticking_answer - 1);
  } else if (strncmp(connection->head, "GET ", 4) == 0) {
    free(connection->head);
    connection->head = NULL;
    connection->state = HOLDS;
    answer(fd, held_answer, sizeof held_answer - 1);
  } else {
    begin_body(fd, end + 4, rest);
  }
}

static void drain(int fd) {
  for (;;) {
    ssize_t got = recv(fd, block, sizeof block, 0);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return drop(fd);
    if (consume(connections[fd], block, (size_t)got)) return finish_body(fd);
  }
}

static void serve(int fd, unsigned events) {
  if (!connections[fd]) return;
  switch (connections[fd]->state) {
    case READS_HEAD: return read_head(fd);
    case DRAINS: return drain(fd);
    case HOLDS:
    case TICKS:
    case WAITS: return drop(fd); /* a held client that says anything, or hangs up */
    case STALLS:
      if (events & (EPOLLERR | EPOLLHUP)) drop(fd);
  }
}

static int resume_stalled(void) {
  long long soonest = -1, now = now_ms();
  for (int i = 0; i < stalled_count; i++) {
    int fd = stalled[i];
    long long left = connections[fd]->resumes_ms - now;
    if (left <= 0) {
      stalled[i--] = stalled[--stalled_count];
      if (connections[fd]->state == WAITS) {
        finish_body(fd);
        continue;
      }
      connections[fd]->state = DRAINS;
      interest(fd, EPOLL_CTL_MOD, EPOLLIN);
    } else if (soonest < 0 || left < soonest) {
      soonest = left;
    }
  }
  return (int)soonest;
}

/* Streams have their events spread over the second, by their descriptors. Returns the ms until the next ones. */
static int send_ticks(void) {
  const int width = 1000 / SLOTS;
  char text[32];
  if (ticking_count == 0) return -1;
  for (; ticked_ms + width <= now_ms(); ticked_ms += width) {
    for (int fd = (int)(ticked_ms / width % SLOTS); fd <= highest_fd; fd += SLOTS) {
      if (!connections[fd] || connections[fd]->state != TICKS) continue;
      int length = snprintf(text, sizeof text, "data: %ld\n\n", connections[fd]->ticks++);
      answer(fd, text, (size_t)length);
    }
  }
  return (int)(ticked_ms + width - now_ms() + 1);
}

static int next_wait(void) {
  int ticks = send_ticks(), resumes = resume_stalled();
  return ticks < 0 || (resumes >= 0 && resumes < ticks) ? resumes : ticks;
}

int main(void) {
  struct rlimit limit;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  struct epoll_event events[256];
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM); /* never outlives the runner, however that one ends */
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  poller = epoll_create1(EPOLL_CLOEXEC);
  if (listener < 0 || poller < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
      listen(listener, 8192) != 0 || getsockname(listener, (struct sockaddr *)&address, &length) != 0) {
    perror("holder");
    return 1;
  }
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  interest(listener, EPOLL_CTL_ADD, EPOLLIN);
  for (;;) {
    int count = epoll_wait(poller, events, 256, next_wait());
    for (int i = 0; i < count; i++) {
      if (events[i].data.fd == listener) accept_all(listener);
      else serve(events[i].data.fd, events[i].events);
    }
  }
}

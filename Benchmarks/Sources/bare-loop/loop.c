#include "loop.h"

#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS_PER_TURN = 256 };

int64_t loop_now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *registered) {
  (void)easy;
  struct loop *loop = context;
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(loop->epoll, EPOLL_CTL_DEL, fd, NULL);
    return 0;
  }
  struct epoll_event event = {.data.fd = fd};
  if (what & CURL_POLL_IN) event.events |= EPOLLIN;
  if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
  epoll_ctl(loop->epoll, registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
  if (!registered) curl_multi_assign(loop->multi, fd, loop);
  return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *context) {
  (void)multi;
  struct loop *loop = context;
  loop->deadline_us = timeout_ms < 0 ? -1 : loop_now_us() + (int64_t)timeout_ms * 1000;
  return 0;
}

bool loop_open(struct loop *loop) {
  loop->deadline_us = -1;
  loop->stop = false;
  loop->epoll = epoll_create1(EPOLL_CLOEXEC);
  loop->multi = curl_multi_init();
  if (loop->epoll < 0 || !loop->multi) return false;
  curl_multi_setopt(loop->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(loop->multi, CURLMOPT_SOCKETDATA, loop);
  curl_multi_setopt(loop->multi, CURLMOPT_TIMERFUNCTION, on_timer);
  curl_multi_setopt(loop->multi, CURLMOPT_TIMERDATA, loop);
  return true;
}

void loop_close(struct loop *loop) {
  curl_multi_cleanup(loop->multi);
  close(loop->epoll);
}

static void collect_finished(struct loop *loop) {
  CURLMsg *message;
  int left;
  while ((message = curl_multi_info_read(loop->multi, &left))) {
    if (message->msg == CURLMSG_DONE)
      loop->finished(loop->context, message->easy_handle, message->data.result);
  }
}

static int wait_ms(const struct loop *loop, int64_t until_us) {
  int64_t deadline = loop->deadline_us;
  if (until_us >= 0 && (deadline < 0 || until_us < deadline)) deadline = until_us;
  if (deadline < 0) return -1;
  int64_t left = deadline - loop_now_us();
  return left <= 0 ? 0 : (int)((left + 999) / 1000);
}

void loop_run(struct loop *loop, int64_t until_us) {
  struct epoll_event events[EVENTS_PER_TURN];
  int running;
  while (!loop->stop && (until_us < 0 || loop_now_us() < until_us)) {
    /* A timer that is due (each added handle sets one) is served without asking the kernel first. */
    while (loop->deadline_us >= 0 && loop->deadline_us <= loop_now_us()) {
      loop->deadline_us = -1;
      curl_multi_socket_action(loop->multi, CURL_SOCKET_TIMEOUT, 0, &running);
      collect_finished(loop);
      if (loop->stop) return;
    }
    int count = epoll_wait(loop->epoll, events, EVENTS_PER_TURN, wait_ms(loop, until_us));
    for (int i = 0; i < count; i++) {
      int what = 0;
      if (events[i].events & EPOLLIN) what |= CURL_CSELECT_IN;
      if (events[i].events & EPOLLOUT) what |= CURL_CSELECT_OUT;
      if (events[i].events & (EPOLLERR | EPOLLHUP)) what |= CURL_CSELECT_ERR;
      curl_multi_socket_action(loop->multi, events[i].data.fd, what, &running);
    }
    collect_finished(loop);
  }
}

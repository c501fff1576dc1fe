/* Takes the place of the system's resolver by LD_PRELOAD: nobody is answered before `hang_released` is set, and
 * then no name exists. */
#include <netdb.h>
#include <stdatomic.h>
#include <unistd.h>

atomic_int hang_running, hang_most, hang_released;

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
  (void)name, (void)service, (void)hints, (void)result;
  int now = atomic_fetch_add(&hang_running, 1) + 1;
  int most = atomic_load(&hang_most);
  while (now > most && !atomic_compare_exchange_weak(&hang_most, &most, now)) {
  }
  // As a resolver that gets no answer: it blocks, and can't be woken. The test sets a word and knows of no lock.
  while (!atomic_load(&hang_released)) usleep(1000);
  atomic_fetch_sub(&hang_running, 1);
  return EAI_NONAME;
}

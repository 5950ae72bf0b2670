// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

#include <lindyn/train/interrupt.hpp>

namespace {
using lindyn::train::interrupt;

volatile std::sig_atomic_t heard = 0;
void hear(int signal) { heard = signal; }

/// What ends a process that does `work`: a signal, or 0.
template <class Work>
int fatal_signal(const Work& work) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL);
    work();
    std::_Exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST_CASE("a signal sets the flag, and the former handler is back at the end") {
  std::signal(SIGINT, hear);
  std::signal(SIGTERM, hear);
  for (const int signal : {SIGINT, SIGTERM}) {
    heard = 0;
    {
      const interrupt watch;
      CHECK_FALSE(watch.requested());
      std::raise(signal);
      CHECK(watch.requested());
      CHECK(watch.signal() == signal);
      CHECK(heard == 0);
    }
    std::raise(signal);
    CHECK(heard == signal);
  }
  const interrupt again;
  CHECK_FALSE(again.requested());  // what came before is forgotten
}

TEST_CASE("a signal that is ignored stays ignored") {
  std::signal(SIGINT, SIG_IGN);
  const interrupt watch;
  std::raise(SIGINT);
  CHECK_FALSE(watch.requested());
}

TEST_CASE("the second signal of a kind ends the program") {
  CHECK(fatal_signal([] {
          const interrupt watch;
          std::raise(SIGINT);
        }) == 0);
  CHECK(fatal_signal([] {
          const interrupt watch;
          std::raise(SIGINT);
          std::raise(SIGINT);
        }) == SIGINT);
}

TEST_CASE("there is one at a time") {
  const interrupt first;
  CHECK_THROWS_AS(interrupt(), lindyn::argument_error);
}

}  // namespace

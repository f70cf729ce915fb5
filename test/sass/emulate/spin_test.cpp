// Who may say that nothing goes on: not a thread that waits for one which the system has put aside.
#include "sass/emulate/state/spin.h"

#include <gtest/gtest.h>

namespace nervanagpu::sass::emulate {
namespace {

TEST(Spins, OneThreadConfirmsAlone) {
  Spins spins(1);
  Spins::Seat seat;
  EXPECT_FALSE(spins.repeated(seat));
  EXPECT_TRUE(spins.repeated(seat));
}

TEST(Spins, AThreadPutAsideMayHoldTheLock) {
  Spins spins(2);
  Spins::Seat holds, waits;
  EXPECT_FALSE(spins.repeated(holds));  // it waited for the lock, then got it and lost its core
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(spins.repeated(waits));
  spins.moved(holds);  // it goes on, and waits again
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(spins.repeated(waits));
  EXPECT_FALSE(spins.repeated(holds));  // now both repeat: windows that begin from here on count
  EXPECT_FALSE(spins.repeated(waits));
  EXPECT_FALSE(spins.repeated(waits));
  EXPECT_TRUE(spins.repeated(holds));
}

TEST(Spins, AThreadThatLeavesMayHaveSetTheFlag) {
  Spins spins(2);
  Spins::Seat seat;
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(spins.repeated(seat));
  spins.left();
  EXPECT_FALSE(spins.repeated(seat));
  EXPECT_TRUE(spins.repeated(seat));
}

}  // namespace
}  // namespace nervanagpu::sass::emulate

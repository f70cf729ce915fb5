// Why a cluster goes no further.
#pragma once

#include "sass/emulate/state/cluster.h"

namespace nervanagpu::sass::emulate {

// Sets the fault: nothing in the cluster can go on, and who waits for what.
void report_deadlock(Cluster& cluster);
// Sets the fault: the grid has come to its limit while `running` ran, and where its neighbours are.
void report_limit(Cluster& cluster, Warp& running);

}  // namespace nervanagpu::sass::emulate

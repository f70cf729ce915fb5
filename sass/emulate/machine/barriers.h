// Barriers of a CTA and of a cluster: who has come, and when they are complete.
#pragma once

#include <string>

#include "sass/emulate/state/cluster.h"

namespace nervanagpu::sass::emulate {

bool release_barriers(Cta& cta);         // completes named barriers; true if any did
bool release_cluster(Cluster& cluster);  // completes the cluster barrier if all that live have arrived; true if so
// Which warps have not come to the cluster barrier, for reports of deadlocks.
std::string missing_at_cluster(const Cluster& cluster);
// Checked mode: a finding if the warp arrives at a barrier divided. On an H200 BAR, WARPSYNC and then a barrier of the cluster
// never end if the first found the warp so.
void check_whole(Warp& w, const Uop* u);

}  // namespace nervanagpu::sass::emulate

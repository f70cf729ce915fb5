// Lane groups: how a warp converges. BSYNC and WARPSYNC make groups wait for each other; groups that stand at the same
// instruction become one when the next is picked. Before sm_70 groups have tokens instead (tokens.cpp) and join nowhere else.
#pragma once

#include "sass/emulate/state/warp.h"

namespace nervanagpu::sass::emulate {

bool run_warp(Warp& w);       // runs until nothing can go on or yields; false: fault
void release_syncs(Warp& w);  // lets go on who waits for nobody any more

// The convergence stack.
void release_tokens(Warp& w);  // like release_syncs
// The lanes Warp::exec leave for the nearest of its kind.
const Uop* pop_token(Warp& w, const Uop* u, Token::Kind kind);

}  // namespace nervanagpu::sass::emulate

// All of the public C++ API; namespace nervanagpu, alias ng.
#pragma once

#include "nervanagpu/autotune.hpp"
#include "nervanagpu/conv.hpp"
#include "nervanagpu/conv_plan.hpp"
#include "nervanagpu/device.hpp"
#include "nervanagpu/dtype.hpp"
#include "nervanagpu/error.hpp"
#include "nervanagpu/export.hpp"
#include "nervanagpu/expr.hpp"
#include "nervanagpu/gemm.hpp"
#include "nervanagpu/gemm_plan.hpp"
#include "nervanagpu/graph.hpp"
#include "nervanagpu/grouped_gemm.hpp"
#include "nervanagpu/indexing.hpp"
#include "nervanagpu/layers.hpp"
#include "nervanagpu/memory_report.hpp"
#include "nervanagpu/module.hpp"
#include "nervanagpu/nn.hpp"
#include "nervanagpu/rounding.hpp"
#include "nervanagpu/scalar.hpp"
#include "nervanagpu/stream.hpp"
#include "nervanagpu/tensor.hpp"
#include "nervanagpu/tensor_map.hpp"
#include "nervanagpu/texture.hpp"
#include "nervanagpu/version.hpp"

namespace ng = nervanagpu;

// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The kernels of lindyn/device.hpp: included in exactly one unit of a program, which is a .cu file for nvcc, or a .cpp file
/// for one of Thrust's host systems. CMakeLists.txt reads this list.

#include <lindyn/backend/device/attention.hpp>
#include <lindyn/backend/device/definitions.hpp>
#include <lindyn/backend/device/lanes.hpp>
#include <lindyn/backend/device/launch.hpp>
#include <lindyn/backend/device/layer_norm.hpp>
#include <lindyn/backend/device/losses.hpp>
#include <lindyn/backend/device/product.hpp>
#include <lindyn/backend/device/rows.hpp>
#include <lindyn/backend/device/state.hpp>
#include <lindyn/backend/device/sums.hpp>
#include <lindyn/backend/device/system.hpp>
#include <lindyn/backend/device/weighted_losses.hpp>
#include <lindyn/optimizer/device_step.hpp>

// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What uses Boost: the headers that the target lindyn::flows adds. CMakeLists.txt reads this list.

#include <lindyn/circuit/competition/icl_iwl.hpp>
#include <lindyn/circuit/induction/induction_flow.hpp>
#include <lindyn/circuit/induction/induction_integral.hpp>
#include <lindyn/circuit/race/crossing.hpp>
#include <lindyn/circuit/race/race.hpp>
#include <lindyn/circuit/race/winner_map.hpp>
#include <lindyn/compare/along.hpp>
#include <lindyn/compare/linearised_flow.hpp>
#include <lindyn/compare/rates_along.hpp>
#include <lindyn/integrate/dormand_prince.hpp>
#include <lindyn/integrate/flow.hpp>
#include <lindyn/integrate/flow_loop.hpp>
#include <lindyn/integrate/rodas.hpp>
#include <lindyn/integrate/stiff_flow.hpp>
#include <lindyn/rates/critical_window_map.hpp>
#include <lindyn/rates/decay_course.hpp>
#include <lindyn/rates/flow.hpp>
#include <lindyn/rates/rest_states.hpp>
#include <lindyn/rates/window_protocol.hpp>
#include <lindyn/rates/windows.hpp>
#include <lindyn/reduced/flow.hpp>

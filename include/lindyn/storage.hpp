// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What uses nlohmann-json: the headers that the target lindyn::storage adds. CMakeLists.txt reads this list.

#include <lindyn/circuit/detection/detection_json.hpp>
#include <lindyn/io/array.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/io/parameters.hpp>
#include <lindyn/io/safetensors.hpp>
#include <lindyn/io/safetensors_header.hpp>
#include <lindyn/train/checkpoint.hpp>
#include <lindyn/train/ensemble_checkpoint.hpp>

// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Everything that needs only Eigen and the standard library: the headers of the target lindyn::lindyn.

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parallel.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/progress.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/core/sizes.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/integrate/flow_options.hpp>
#include <lindyn/integrate/system.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/manifold/imir.hpp>
#include <lindyn/manifold/labels.hpp>
#include <lindyn/manifold/layout.hpp>
#include <lindyn/manifold/selection.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/model/attention_only_plain.hpp>
#include <lindyn/model/attention_shape.hpp>
#include <lindyn/population/enumeration.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/population/pool.hpp>
#include <lindyn/population/position_laws.hpp>
#include <lindyn/population/process.hpp>
#include <lindyn/population/sequence_table.hpp>
#include <lindyn/population/token_laws.hpp>
#include <lindyn/symmetry/closed_forms.hpp>
#include <lindyn/symmetry/disjoint_sets.hpp>
#include <lindyn/symmetry/group.hpp>
#include <lindyn/symmetry/joint.hpp>
#include <lindyn/symmetry/orbitals.hpp>
#include <lindyn/symmetry/permutation.hpp>
#include <lindyn/symmetry/reynolds.hpp>
#include <lindyn/symmetry/structure.hpp>
#include <lindyn/task/associative_recall.hpp>
#include <lindyn/task/batch.hpp>
#include <lindyn/task/loss.hpp>
#include <lindyn/version.hpp>

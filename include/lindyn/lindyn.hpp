// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Everything that needs only Eigen and the standard library: the headers of the target lindyn::lindyn.

/// \namespace lindyn
/// What every room stands on, and the marks of tasks.
/// \namespace lindyn::io
/// Files: complete or absent, and checked when read.
/// \namespace lindyn::schedule
/// Learning rates and decay rates over time.
/// \namespace lindyn::integrate
/// Flows dx/dt = f(x, t).
/// \namespace lindyn::backend
/// Where arrays live and kernels run.
/// \namespace lindyn::task
/// What is asked of a network.
/// \namespace lindyn::symmetry
/// Permutation groups and what they leave alone.
/// \namespace lindyn::optimizer
/// Rules that move numbers against a gradient.
/// \namespace lindyn::sweep
/// Functions over grids, resumable.
/// \namespace lindyn::population
/// How sequences are drawn.
/// \namespace lindyn::positions
/// How positions are drawn, as types.
/// \namespace lindyn::model
/// Networks.
/// \namespace lindyn::manifold
/// The invariant manifold and its coordinates.
/// \namespace lindyn::train
/// Full networks in training.
/// \namespace lindyn::reduced
/// The dynamics on the manifold alone.
/// \namespace lindyn::rates
/// Memorising against reasoning as a few masses.
/// \namespace lindyn::observe
/// What to watch in a network while it trains.
/// \namespace lindyn::circuit
/// Circuits as small systems of their own.
/// \namespace lindyn::compare
/// Theory and network side by side.

#include <lindyn/backend/backend.hpp>
#include <lindyn/backend/host.hpp>
#include <lindyn/backend/host_activation.hpp>
#include <lindyn/backend/host_attention.hpp>
#include <lindyn/backend/host_cross_entropy.hpp>
#include <lindyn/backend/host_exponential.hpp>
#include <lindyn/backend/host_layer_norm.hpp>
#include <lindyn/backend/host_product.hpp>
#include <lindyn/backend/host_rows.hpp>
#include <lindyn/backend/host_vector.hpp>
#include <lindyn/backend/host_weighted_loss.hpp>
#include <lindyn/backend/panels.hpp>
#include <lindyn/backend/plain.hpp>
#include <lindyn/backend/tile_product.hpp>
#include <lindyn/circuit/competition/burstiness.hpp>
#include <lindyn/circuit/competition/competition_circuit.hpp>
#include <lindyn/circuit/competition/competition_head.hpp>
#include <lindyn/circuit/competition/competition_rates.hpp>
#include <lindyn/circuit/competition/conflict.hpp>
#include <lindyn/circuit/competition/relational_competition.hpp>
#include <lindyn/circuit/competition/starvation.hpp>
#include <lindyn/circuit/detection/accuracy.hpp>
#include <lindyn/circuit/detection/circuit_graph.hpp>
#include <lindyn/circuit/detection/data_loss.hpp>
#include <lindyn/circuit/detection/detect.hpp>
#include <lindyn/circuit/detection/detection.hpp>
#include <lindyn/circuit/detection/elimination.hpp>
#include <lindyn/circuit/detection/gauge.hpp>
#include <lindyn/circuit/detection/loss_concepts.hpp>
#include <lindyn/circuit/detection/rescaled_loss.hpp>
#include <lindyn/circuit/induction/exact_induction_head.hpp>
#include <lindyn/circuit/induction/induction_circuit.hpp>
#include <lindyn/circuit/induction/induction_head.hpp>
#include <lindyn/circuit/induction/metric.hpp>
#include <lindyn/circuit/race/cut_composition.hpp>
#include <lindyn/circuit/race/growth_rates.hpp>
#include <lindyn/circuit/race/head_pair.hpp>
#include <lindyn/circuit/race/standings.hpp>
#include <lindyn/circuit/race/trained_race.hpp>
#include <lindyn/compare/confinement.hpp>
#include <lindyn/compare/confinement_gradient.hpp>
#include <lindyn/compare/confinement_invariance.hpp>
#include <lindyn/compare/confinement_leak.hpp>
#include <lindyn/compare/confinement_sample.hpp>
#include <lindyn/compare/linearised_rates.hpp>
#include <lindyn/compare/manifold_constraint.hpp>
#include <lindyn/compare/trajectory.hpp>
#include <lindyn/core/aligned_vector.hpp>
#include <lindyn/core/enumerators.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/host_device.hpp>
#include <lindyn/core/parallel.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/progress.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/core/sizes.hpp>
#include <lindyn/core/unroll.hpp>
#include <lindyn/core/vector_width.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/core/worker_pool.hpp>
#include <lindyn/integrate/flow_options.hpp>
#include <lindyn/integrate/jacobian.hpp>
#include <lindyn/integrate/predictive_step_adjuster.hpp>
#include <lindyn/integrate/step_adjuster.hpp>
#include <lindyn/integrate/system.hpp>
#include <lindyn/io/atomic_file.hpp>
#include <lindyn/io/csv.hpp>
#include <lindyn/io/digest.hpp>
#include <lindyn/io/file_lock.hpp>
#include <lindyn/io/naming.hpp>
#include <lindyn/io/number.hpp>
#include <lindyn/io/output_folder.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/manifold/imir.hpp>
#include <lindyn/manifold/labels.hpp>
#include <lindyn/manifold/layout.hpp>
#include <lindyn/manifold/residual_basis.hpp>
#include <lindyn/manifold/selection.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/model/attention_only/attention_pass.hpp>
#include <lindyn/model/attention_only/dense_pass.hpp>
#include <lindyn/model/attention_only/dense_tables.hpp>
#include <lindyn/model/attention_only/group_state.hpp>
#include <lindyn/model/attention_only/lanes.hpp>
#include <lindyn/model/attention_only/one_hot_block.hpp>
#include <lindyn/model/attention_only/path_products.hpp>
#include <lindyn/model/attention_only/strided.hpp>
#include <lindyn/model/attention_only_plain.hpp>
#include <lindyn/model/attention_shape.hpp>
#include <lindyn/model/dense_attention_only.hpp>
#include <lindyn/model/embedding.hpp>
#include <lindyn/model/evaluation_plan.hpp>
#include <lindyn/model/exact_match.hpp>
#include <lindyn/model/greedy_decoding.hpp>
#include <lindyn/model/linearised_attention.hpp>
#include <lindyn/model/linearised_hessian.hpp>
#include <lindyn/model/linearised_masses.hpp>
#include <lindyn/model/non_finite.hpp>
#include <lindyn/model/placed_plan.hpp>
#include <lindyn/model/prenorm/layout.hpp>
#include <lindyn/model/prenorm/numbering.hpp>
#include <lindyn/model/prenorm/pass.hpp>
#include <lindyn/model/prenorm/row_arena.hpp>
#include <lindyn/model/prenorm_cost.hpp>
#include <lindyn/model/prenorm_initialisation.hpp>
#include <lindyn/model/prenorm_shape.hpp>
#include <lindyn/model/prenorm_transformer.hpp>
#include <lindyn/model/residual_stream.hpp>
#include <lindyn/observe/condensation.hpp>
#include <lindyn/observe/frequencies.hpp>
#include <lindyn/observe/head_statistics.hpp>
#include <lindyn/observe/margins.hpp>
#include <lindyn/observe/network_order.hpp>
#include <lindyn/observe/neuron_groups.hpp>
#include <lindyn/observe/norms.hpp>
#include <lindyn/observe/order_parameters.hpp>
#include <lindyn/observe/quantile_sketch.hpp>
#include <lindyn/observe/singular_values.hpp>
#include <lindyn/observe/subspace_alignment.hpp>
#include <lindyn/optimizer/adam.hpp>
#include <lindyn/optimizer/budget.hpp>
#include <lindyn/optimizer/clip.hpp>
#include <lindyn/optimizer/decay.hpp>
#include <lindyn/optimizer/elementwise.hpp>
#include <lindyn/optimizer/elementwise_rule.hpp>
#include <lindyn/optimizer/formulas.hpp>
#include <lindyn/optimizer/groups.hpp>
#include <lindyn/optimizer/memory.hpp>
#include <lindyn/optimizer/momentum.hpp>
#include <lindyn/optimizer/optimizer.hpp>
#include <lindyn/optimizer/placed_rules.hpp>
#include <lindyn/optimizer/placed_step.hpp>
#include <lindyn/optimizer/sgd.hpp>
#include <lindyn/population/block_list.hpp>
#include <lindyn/population/conditional_retrieval_tokens.hpp>
#include <lindyn/population/distinct_tokens.hpp>
#include <lindyn/population/enumeration.hpp>
#include <lindyn/population/finite/anchor_composition.hpp>
#include <lindyn/population/finite/anchor_shift.hpp>
#include <lindyn/population/finite/batches.hpp>
#include <lindyn/population/finite/modular_arithmetic.hpp>
#include <lindyn/population/finite/operation_table.hpp>
#include <lindyn/population/finite/scan.hpp>
#include <lindyn/population/finite/split.hpp>
#include <lindyn/population/finite/vector_composition.hpp>
#include <lindyn/population/indirect_object_tokens.hpp>
#include <lindyn/population/j_hop_tokens.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/population/listed_law.hpp>
#include <lindyn/population/permutation_inversion_tokens.hpp>
#include <lindyn/population/pool.hpp>
#include <lindyn/population/position_laws.hpp>
#include <lindyn/population/process.hpp>
#include <lindyn/population/sampling.hpp>
#include <lindyn/population/sequence_table.hpp>
#include <lindyn/population/subsets.hpp>
#include <lindyn/population/token_classes.hpp>
#include <lindyn/population/token_laws.hpp>
#include <lindyn/population/type_sample.hpp>
#include <lindyn/population/whole_population.hpp>
#include <lindyn/rates/closed_forms.hpp>
#include <lindyn/rates/extinction_clock.hpp>
#include <lindyn/rates/frozen_system.hpp>
#include <lindyn/rates/linearised_system.hpp>
#include <lindyn/rates/module_extinction.hpp>
#include <lindyn/rates/module_system.hpp>
#include <lindyn/rates/printed_system.hpp>
#include <lindyn/rates/rate_system.hpp>
#include <lindyn/rates/reduced_system.hpp>
#include <lindyn/reduced/attention_operators.hpp>
#include <lindyn/reduced/class_sums.hpp>
#include <lindyn/reduced/compile_relations.hpp>
#include <lindyn/reduced/descent.hpp>
#include <lindyn/reduced/first_attention.hpp>
#include <lindyn/reduced/lanes.hpp>
#include <lindyn/reduced/later_attention.hpp>
#include <lindyn/reduced/layer_pass.hpp>
#include <lindyn/reduced/logit_loss.hpp>
#include <lindyn/reduced/manifold_loss.hpp>
#include <lindyn/reduced/pair_scores.hpp>
#include <lindyn/reduced/plain_model.hpp>
#include <lindyn/reduced/point_classes.hpp>
#include <lindyn/reduced/readout_pass.hpp>
#include <lindyn/reduced/relational_model.hpp>
#include <lindyn/reduced/relational_pass.hpp>
#include <lindyn/reduced/relational_plan.hpp>
#include <lindyn/reduced/row_block.hpp>
#include <lindyn/reduced/row_softmax.hpp>
#include <lindyn/reduced/sampled_loss.hpp>
#include <lindyn/schedule/budget.hpp>
#include <lindyn/schedule/schedule.hpp>
#include <lindyn/schedule/shapes.hpp>
#include <lindyn/schedule/text.hpp>
#include <lindyn/schedule/warnings.hpp>
#include <lindyn/sweep/axis.hpp>
#include <lindyn/sweep/boundary.hpp>
#include <lindyn/sweep/grid.hpp>
#include <lindyn/sweep/journal.hpp>
#include <lindyn/sweep/map.hpp>
#include <lindyn/sweep/table.hpp>
#include <lindyn/symmetry/closed_forms.hpp>
#include <lindyn/symmetry/direct_sum.hpp>
#include <lindyn/symmetry/directed_matching.hpp>
#include <lindyn/symmetry/disjoint_sets.hpp>
#include <lindyn/symmetry/group.hpp>
#include <lindyn/symmetry/joint.hpp>
#include <lindyn/symmetry/orbitals.hpp>
#include <lindyn/symmetry/permutation.hpp>
#include <lindyn/symmetry/reynolds.hpp>
#include <lindyn/symmetry/structure.hpp>
#include <lindyn/symmetry/wreath.hpp>
#include <lindyn/task/associative_recall.hpp>
#include <lindyn/task/batch.hpp>
#include <lindyn/task/block_list_task.hpp>
#include <lindyn/task/conditional_retrieval.hpp>
#include <lindyn/task/evaluation.hpp>
#include <lindyn/task/indirect_object.hpp>
#include <lindyn/task/j_hop.hpp>
#include <lindyn/task/loss.hpp>
#include <lindyn/task/permutation_inversion.hpp>
#include <lindyn/task/prefix_index.hpp>
#include <lindyn/task/sequence_set.hpp>
#include <lindyn/task/vector_composition.hpp>
#include <lindyn/train/batched_ensemble.hpp>
#include <lindyn/train/batched_runs.hpp>
#include <lindyn/train/branch_plan.hpp>
#include <lindyn/train/branches.hpp>
#include <lindyn/train/descent.hpp>
#include <lindyn/train/description.hpp>
#include <lindyn/train/ensemble.hpp>
#include <lindyn/train/guard.hpp>
#include <lindyn/train/interrupt.hpp>
#include <lindyn/train/interventions.hpp>
#include <lindyn/train/law_objective.hpp>
#include <lindyn/train/linearised_objective.hpp>
#include <lindyn/train/objective.hpp>
#include <lindyn/train/observer.hpp>
#include <lindyn/train/placed_arrays.hpp>
#include <lindyn/train/settings.hpp>
#include <lindyn/train/step_rates.hpp>
#include <lindyn/train/trainer.hpp>
#include <lindyn/train/trainer_options.hpp>
#include <lindyn/train/training_arrays.hpp>
#include <lindyn/version.hpp>

// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The two published trainings of a pre-norm transformer that benchmarks measure.

#include <lindyn/core/views.hpp>
#include <lindyn/model/prenorm_shape.hpp>
#include <lindyn/population/finite/anchor_composition.hpp>
#include <lindyn/population/finite/modular_arithmetic.hpp>

namespace benchmarks {

/// Data, network and batches of a training.
struct experiment {
  lindyn::population::split_set data;
  lindyn::model::prenorm_shape shape;
  lindyn::index batch;
  double learning_rate;
};

/// Windows of weight decay: anchor composition, 720 sequences.
inline experiment windows() {
  return {lindyn::population::anchor_composition(),
          {.vocabulary = 24, .outputs = 24, .context = 3, .width = 64, .heads = 2, .layers = 2, .hidden = 256},
          128,
          3e-3};
}

/// Regimes of weight decay: addition modulo 97, 4,704 sequences.
inline experiment regimes() {
  return {lindyn::population::modular_arithmetic(),
          {.vocabulary = 98, .outputs = 97, .context = 3, .width = 128, .heads = 8, .layers = 4, .hidden = 512},
          512,
          1e-3};
}

}  // namespace benchmarks

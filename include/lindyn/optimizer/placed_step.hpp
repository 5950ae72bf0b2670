// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A step of one optimiser over several runs whose arrays lie in a backend's memory.

#include <lindyn/backend/backend.hpp>
#include <lindyn/core/host_device.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/optimizer/formulas.hpp>

namespace lindyn::backend {

class thrust_device;

}  // namespace lindyn::backend

namespace lindyn::optimizer {

/// What differs from run to run and from step to step, as numbers in the backend's memory. A run's numbers are the
/// `count` of step_entry, and then, for each of its ranges, the share of the weights that stays and the one that joins the
/// gradient. Its bounds are the first entry of each range, and then the ends.
template <class Scalar>
struct step_tables {
  /// The first numbers of a run.
  enum step_entry {
    live,            ///< 0: nothing of the run changes
    rate,            ///< of step_numbers
    correction,      ///< of step_numbers
    gradient_scale,  ///< multiplies the gradient
    count,           ///< how many these are
  };

  const Scalar* numbers = nullptr;  ///< [run][count + 2 ranges]
  const int* bounds = nullptr;  ///< [run][2 ranges], ranges in order; spare ones begin and end at the number of weights
  int ranges = 0;               ///< of each run
};

/// Moves one entry of one run: w <- keep w - formula(numbers, g + coupled w, remembered..), if it lies within a range.
/// \tparam Formula  of formulas.hpp
template <class Formula, class Scalar>
struct placed_step {
  Formula formula;                              ///< what the optimiser takes
  backend::run_vector<Scalar> weights;          ///< are moved
  backend::run_vector<const Scalar> gradients;  ///< against these
  backend::run_vector<Scalar>
      remembered[2];           ///< the first `Formula::remembered` of them are what the optimiser remembers
  step_tables<Scalar> tables;  ///< of this step

  /// \param run    its number
  /// \param entry  of its flat buffer
  LINDYN_HOST_DEVICE void operator()(index run, index entry) const {
    const Scalar* at = tables.numbers + run * (tables.count + 2 * tables.ranges);
    const int* first = tables.bounds + run * 2 * tables.ranges;
    const int* end = first + tables.ranges;
    if (at[tables.live] == 0) return;
    const int range = range_of(entry, end);
    if (range == tables.ranges || entry < first[range]) return;
    const Scalar keep = at[tables.count + 2 * range], coupled = at[tables.count + 2 * range + 1];
    Scalar& weight = weights.data[run * weights.run_stride + entry];
    const Scalar gradient = at[tables.gradient_scale] * gradients.data[run * gradients.run_stride + entry];
    weight = keep * weight - taken({at[tables.rate], at[tables.correction]}, gradient + coupled * weight, run, entry);
  }

private:
  /// The first range that ends behind the entry.
  LINDYN_HOST_DEVICE int range_of(index entry, const int* end) const {
    int low = 0, high = tables.ranges;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (end[middle] > entry)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }

  LINDYN_HOST_DEVICE Scalar taken(const step_numbers<Scalar>& now, Scalar gradient, index run, index entry) const {
    if constexpr (Formula::remembered == 0)
      return formula(now, gradient);
    else if constexpr (Formula::remembered == 1)
      return formula(now, gradient, element(0, run, entry));
    else
      return formula(now, gradient, element(0, run, entry), element(1, run, entry));
  }

  LINDYN_HOST_DEVICE Scalar& element(int which, index run, index entry) const {
    return remembered[which].data[run * remembered[which].run_stride + entry];
  }
};

/// Moves the entries [0, size) of all runs. This one reads the backend's memory on the caller's thread; a backend whose
/// memory lies elsewhere has an overload of its own.
template <class Backend, class Formula, class Scalar>
void move_entries(Backend& on, const placed_step<Formula, Scalar>& step, index size) {
  for (index run = 0; run < on.runs(); ++run)
    for (index entry = 0; entry < size; ++entry) step(run, entry);
}

/// On a device: see device_step.hpp, in the unit of its kernels.
template <class Formula, class Scalar>
void move_entries(backend::thrust_device& on, const placed_step<Formula, Scalar>& step, index size);

}  // namespace lindyn::optimizer

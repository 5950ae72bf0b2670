// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Linearised attention: a model that can memorise each pair of anchors, and can reason, by one rule for all of them.

#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <lindyn/backend/backend.hpp>
#include <lindyn/backend/host.hpp>
#include <lindyn/core/enumerators.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/model/prenorm_initialisation.hpp>
#include <lindyn/task/vector_composition.hpp>

namespace lindyn::model {

/// A backend, and memory that evaluations of linearised_attention reuse.
template <class Scalar, class Backend>
class linearised_workspace {
public:
  /// \param on  where products run
  explicit linearised_workspace(Backend on = Backend()) : on_(std::move(on)) {}
  /// Where products run.
  [[nodiscard]] Backend& on() noexcept { return on_; }

private:
  template <class, class>
  friend class linearised_attention;
  using memory = typename Backend::template array<Scalar>;

  Backend on_;
  memory outputs_;               // |P| x d x K: f, then f - y, then dL/df
  memory ruled_;                 // d x K: W1 e_k as columns
  memory druled_;                // d x K: dL / d(W1 e_k)
  memory turned_;                // A x d: W2 u_i as rows
  memory dturned_;               // A x d: dL / d(W2 u_i) as combinations of anchors
  memory couplings_;             // |P|: u_j' W2 u_i
  memory dcouplings_;            // |P|
  std::vector<double> squares_;  // K
};

/// Answers by a matrix for each pair, which memorises it, and by one matrix for all, which a pair only scales:
/// \f[
///   f(k, a_i, a_j) = M_{ij} e_k + (u_j^\top W_2 u_i)\, W_1 e_k , \qquad
///   L = \frac{w}{K} \sum_{(i,j) \in P} \sum_k \tfrac12 \lVert f - y \rVert^2 , \quad w = 1/|P| \text{ or } 1 .
/// \f]
/// Keys e_k, anchors u_i and answers y are those of a task::vector_composition. Weights are d x d: `W1`, `W2`, and `M.i.j`
/// for each pair. Source: Ali, arXiv 2605.04396.
///
///     const model::linearised_attention<> net(population::vector_composition());
///     auto weights = model::initial_weights(net, {.gamma = 0.8, .seed = 1});
///     std::vector<double> gradient(weights.size());
///     decltype(net)::workspace memory;
///     const double loss = net.loss_and_gradient(weights, gradient, memory);
///
/// All keys of all pairs are evaluated at once, by two products of matrices. The same bits for any number of threads.
/// \tparam Scalar   float or double
/// \tparam Backend  where products run
template <class Scalar = double, class Backend = backend::host>
class linearised_attention {
  static_assert(std::is_same_v<Scalar, float> || std::is_same_v<Scalar, double>,
                "lindyn: the scalar of linearised attention must be float or double.");

public:
  using scalar = Scalar;                                    ///< of weights and gradients
  using workspace = linearised_workspace<Scalar, Backend>;  ///< memory that evaluations reuse

  /// Throws argument_error as task::require_valid does.
  explicit linearised_attention(task::vector_composition data,
                                task::pair_reduction reduction = task::pair_reduction::mean)
      : data_(std::move(data)), reduction_(reduction) {
    require_enumerator("reduction", reduction);
    require_valid(data_);
    table_.append("W1", data_.width, data_.width);
    table_.append("W2", data_.width, data_.width);
    for (const auto& [first, second] : data_.pairs)
      table_.append("M." + std::to_string(first) + "." + std::to_string(second), data_.width, data_.width);
    const auto in_scalar = [](const std::vector<double>& from, auto& to) { to.assign(from.begin(), from.end()); };
    in_scalar(data_.keys, keys_);
    in_scalar(data_.anchors, anchors_);
    in_scalar(data_.answers, answers_);
  }

  /// What is asked.
  [[nodiscard]] const task::vector_composition& data() const noexcept { return data_; }
  /// How the loss adds up over pairs.
  [[nodiscard]] task::pair_reduction reduction() const noexcept { return reduction_; }
  /// w: 1 / |P| or 1.
  [[nodiscard]] double pair_weight() const noexcept {
    return reduction_ == task::pair_reduction::mean ? 1 / static_cast<double>(data_.pair_count()) : 1;
  }
  /// Where each matrix lies in the flat buffers.
  [[nodiscard]] const parameter_table& parameters() const noexcept { return table_; }

  /// The loss. Throws shape_error for another number of weights, non_finite_error if the loss isn't finite.
  [[nodiscard]] double loss(std::span<const Scalar> weights, workspace& memory) const {
    return residual(weights, memory);
  }

  /// The same; all entries of `gradient`, laid out as the weights, become the loss's derivative.
  double loss_and_gradient(std::span<const Scalar> weights, std::span<Scalar> gradient, workspace& memory) const {
    require_extent("gradient.size()", gradient.size(), table_.size());
    const double result = residual(weights, memory);
    backward(gradient, memory);
    return result;
  }

  /// f, |P| x d x K: column k of each pair's matrix is the answer to key k. Throws shape_error for another number of
  /// weights.
  [[nodiscard]] std::vector<Scalar> outputs(std::span<const Scalar> weights, workspace& memory) const {
    forward(weights, memory);
    return {memory.outputs_.begin(), memory.outputs_.end()};
  }

  /// \{
  /// What the outputs are made of: M_ij e_k, |P| x d x K; u_j' W2 u_i of each pair; W1 e_k as columns, d x K.
  /// Throws shape_error for another number of weights.
  [[nodiscard]] std::vector<Scalar> memorised(std::span<const Scalar> weights, workspace& memory) const {
    memorise(weights, memory);
    return {memory.outputs_.begin(), memory.outputs_.end()};
  }
  [[nodiscard]] std::vector<Scalar> couplings(std::span<const Scalar> weights, workspace& memory) const {
    couple(weights, memory);
    return {memory.couplings_.begin(), memory.couplings_.end()};
  }
  [[nodiscard]] std::vector<Scalar> ruled(std::span<const Scalar> weights, workspace& memory) const {
    rule(weights, memory);
    return {memory.ruled_.begin(), memory.ruled_.end()};
  }
  /// \}

private:
  using in = backend::strided_matrix<const Scalar>;
  using out = backend::strided_matrix<Scalar>;

  /// All M_ij below each other.
  template <class T>
  [[nodiscard]] backend::strided_matrix<T> stacked(std::span<T> buffer) const {
    return {buffer.data() + table_[2].offset, data_.pair_count() * data_.width, data_.width, data_.width};
  }
  /// An array as rows of so many entries.
  template <class Array>
  [[nodiscard]] static auto rows_of(Array& array, index columns) {
    using entry = std::remove_pointer_t<decltype(array.data())>;
    return backend::strided_matrix<entry>{array.data(), static_cast<index>(array.size()) / columns, columns, columns};
  }
  /// y = x w'.
  static void product(in x, in w, workspace& memory, out y) {
    memory.on_.linear(x, w, nullptr, y, backend::update::assign);
  }
  /// y = x w.
  static void product_of_rows(in x, in w, workspace& memory, out y) {
    memory.on_.linear_backward_input(x, w, y, backend::update::assign);
  }

  [[nodiscard]] index key_count() const noexcept { return data_.key_count(); }
  [[nodiscard]] double scale() const noexcept { return pair_weight() / static_cast<double>(key_count()); }
  [[nodiscard]] const Scalar* anchor(index which) const noexcept { return anchors_.data() + which * data_.width; }

  void couple(std::span<const Scalar> weights, workspace& memory) const {
    memory.turned_.resize(anchors_.size());
    memory.couplings_.resize(data_.pairs.size());
    const out turned = rows_of(memory.turned_, data_.width);
    product(rows_of(anchors_, data_.width), backend::strided(table_.view(table_[1], weights)), memory, turned);
    for (std::size_t pair = 0; pair < data_.pairs.size(); ++pair) {
      const auto [first, second] = data_.pairs[pair];
      memory.couplings_[pair] =
          std::inner_product(turned.row(first), turned.row(first) + data_.width, anchor(second), Scalar(0));
    }
  }
  void rule(std::span<const Scalar> weights, workspace& memory) const {
    memory.ruled_.resize(keys_.size());
    product(backend::strided(table_.view(table_[0], weights)), rows_of(keys_, data_.width), memory,
            rows_of(memory.ruled_, key_count()));
  }
  void memorise(std::span<const Scalar> weights, workspace& memory) const {
    require_extent("weights.size()", weights.size(), table_.size());
    memory.outputs_.resize(answers_.size());
    product(stacked(weights), rows_of(keys_, data_.width), memory, rows_of(memory.outputs_, key_count()));
  }

  void forward(std::span<const Scalar> weights, workspace& memory) const {
    memorise(weights, memory);
    couple(weights, memory);
    rule(weights, memory);
    Scalar* output = memory.outputs_.data();
    for (const Scalar coupling : memory.couplings_)
      for (const Scalar entry : memory.ruled_) *output++ += coupling * entry;
  }

  /// The outputs become f - y. The squares are added by keys: sums of their own, side by side.
  double residual(std::span<const Scalar> weights, workspace& memory) const {
    forward(weights, memory);
    memory.squares_.assign(static_cast<std::size_t>(key_count()), 0);
    Scalar* output = memory.outputs_.data();
    for (const Scalar *answer = answers_.data(), *end = answer + answers_.size(); answer != end;)
      for (double& square : memory.squares_) {
        *output -= *answer++;
        square += static_cast<double>(*output) * static_cast<double>(*output);
        ++output;
      }
    const double result = scale() / 2 * std::accumulate(memory.squares_.begin(), memory.squares_.end(), 0.0);
    require_finite("loss", std::span(&result, 1));
    return result;
  }

  void backward(std::span<Scalar> gradient, workspace& memory) const {
    const index pairs = data_.pair_count(), width = data_.width;
    const in keys = rows_of(keys_, width), anchors = rows_of(anchors_, width);
    for (Scalar& entry : memory.outputs_) entry *= static_cast<Scalar>(scale());
    const in slopes = rows_of(std::as_const(memory.outputs_), width * key_count());  // pairs x (d K)
    product_of_rows(rows_of(std::as_const(memory.outputs_), key_count()), keys, memory, stacked(gradient));

    memory.druled_.resize(memory.ruled_.size());
    product_of_rows(rows_of(std::as_const(memory.couplings_), pairs), slopes, memory,
                    rows_of(memory.druled_, width * key_count()));
    product_of_rows(rows_of(std::as_const(memory.druled_), key_count()), keys, memory,
                    backend::strided(table_.view(table_[0], gradient)));

    memory.dcouplings_.resize(memory.couplings_.size());
    product(slopes, rows_of(std::as_const(memory.ruled_), width * key_count()), memory, rows_of(memory.dcouplings_, 1));
    memory.dturned_.assign(anchors_.size(), Scalar(0));
    for (std::size_t pair = 0; pair < data_.pairs.size(); ++pair)
      for (index column = 0; column < width; ++column)
        memory.dturned_[static_cast<std::size_t>(data_.pairs[pair].second * width + column)] +=
            memory.dcouplings_[pair] * anchor(data_.pairs[pair].first)[column];
    memory.on_.linear_backward_weights(anchors, rows_of(std::as_const(memory.dturned_), width),
                                       backend::strided(table_.view(table_[1], gradient)),
                                       static_cast<Scalar*>(nullptr));
  }

  task::vector_composition data_;
  task::pair_reduction reduction_;
  parameter_table table_;
  typename Backend::template array<Scalar> keys_, anchors_, answers_;
};

/// Options of initial_weights of linearised attention.
struct linearised_initialisation {
  double gamma = 1;             ///< W1 and W2 are drawn from N(0, gamma^2 / d)
  double memorising_gamma = 0;  ///< likewise M_ij, which are 0 by default
  std::uint64_t seed = 0;       ///< of one stream for each matrix, from weight_stream on
};

/// Weights to start from, laid out by net.parameters(); float is double, rounded.
/// Throws argument_error for a gamma that is negative or not finite.
template <class Scalar, class Backend>
[[nodiscard]] std::vector<Scalar> initial_weights(const linearised_attention<Scalar, Backend>& net,
                                                  const linearised_initialisation& options) {
  for (const double gamma : {options.gamma, options.memorising_gamma})
    require(gamma >= 0 && gamma <= 1e6, "initialisation.gamma", gamma, "in [0, 10^6]");
  const parameter_table& table = net.parameters();
  std::vector<Scalar> result(static_cast<std::size_t>(table.size()));
  for (index place = 0; place < table.count(); ++place) {
    const double gamma = place < 2 ? options.gamma : options.memorising_gamma;
    if (gamma == 0) continue;
    const double deviation = gamma / std::sqrt(static_cast<double>(net.data().width));
    counter_generator generator(options.seed, weight_stream + static_cast<std::uint64_t>(place));
    for (Scalar& value : table.view(table[place], result))
      value = static_cast<Scalar>(deviation * standard_normal(generator));
  }
  return result;
}

}  // namespace lindyn::model

// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Modules whose masses are products of weights: what they have learnt, and the noisy gradient that an optimiser sees.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::rates {

/// A module of a network: its mass y is the mean over its units of the product over its factors of (x / scale)^power.
/// One unit and powers {1, 1, 1} are a product of three factors. Many units and powers {1, 2} are a perceptron whose
/// response is quadratic, as GELU's is near 0 where its linear part is of no use; {1, 1} are one whose response has degree
/// one, as ReLU's; a further 2 is the gain of a norm in front of it.
struct module_shape {
  std::vector<int> powers{1, 1, 1};  ///< of each factor; their sum p is the degree of the module
  double memorises = 1;              ///< w, what a mass of 1 contributes to the task by itself

  /// p.
  [[nodiscard]] int degree() const noexcept {
    int sum = 0;
    for (const int power : powers) sum += power;
    return sum;
  }
};

/// Modules that learn one task: m = sum_i w_i y_i is memorised, r = kappa prod_i y_i takes all of them, e = 1 - m - r is
/// left, within [-1, 1] as the derivative of a cross-entropy is. With D_i = w_i + kappa prod_(j != i) y_j, the derivative
/// by a factor x of module i is
///
///     -signal e D_i power (x / scale)^(power - 1) prod_(other factors) (their x / scale)^power
///     +- noise |e D_i| prod_(other factors) |their x / scale|
///
/// whose sign is drawn for each weight and step: noise passes through the linear response of all factors, whatever the
/// power is with which they are of use. The degrees of signal and noise differ where a power isn't 1. A model of this
/// library's own; what it is good for is said in examples/critical_window/RESULTS.md.
struct module_system {
  std::vector<module_shape> modules{{}, {}};  ///< at least one
  double reasons = 4;                         ///< kappa
  double scale = 0.1;                         ///< weights of this size make a mass of 1
  double signal = 1e-3;                       ///< derivative at D = e = 1 and weights of that size
  double noise = 0;                           ///< root mean square of the gradient's noise there
  index units = 1;                            ///< of each module

  /// m, of the masses.
  [[nodiscard]] double memorised(std::span<const double> masses) const {
    double sum = 0;
    for (std::size_t i = 0; i < modules.size(); ++i) sum += modules[i].memorises * masses[i];
    return sum;
  }
  /// r, of the masses.
  [[nodiscard]] double reasoned(std::span<const double> masses) const {
    double product = reasons;
    for (const double mass : masses) product *= mass;
    return product;
  }
  /// e, of the masses.
  [[nodiscard]] double error(std::span<const double> masses) const {
    return std::clamp(1 - memorised(masses) - reasoned(masses), -1.0, 1.0);
  }
  /// D_i: how much the task feels of a change of that mass.
  [[nodiscard]] double sensitivity(std::size_t module, std::span<const double> masses) const {
    double product = reasons;
    for (std::size_t j = 0; j < masses.size(); ++j)
      if (j != module) product *= masses[j];
    return modules[module].memorises + product;
  }
};

/// Throws argument_error, naming the member, for a system that makes no sense.
inline void require_valid(const module_system& system) {
  require(!system.modules.empty() && system.modules.size() <= 64, "modules.size()", system.modules.size(),
          "in [1, 64]");
  for (std::size_t i = 0; i < system.modules.size(); ++i) {
    const std::string name = "modules[" + std::to_string(i) + "].";
    const module_shape& module = system.modules[i];
    require(!module.powers.empty() && module.powers.size() <= 16, name + "powers.size()", module.powers.size(),
            "in [1, 16]");
    for (const int power : module.powers) require(power >= 1 && power <= 8, name + "powers", power, "in [1, 8]");
    require(std::abs(module.memorises) <= 1e6, name + "memorises", module.memorises, "in [-1e6, 1e6]");
  }
  require(std::abs(system.reasons) <= 1e6, "reasons", system.reasons, "in [-1e6, 1e6]");
  require(system.scale > 0 && system.scale <= 1e6, "scale", system.scale, "positive, and at most 1e6");
  require(system.signal >= 0 && system.signal <= 1e6, "signal", system.signal, "in [0, 1e6]");
  require(system.noise >= 0 && system.noise <= 1e6, "noise", system.noise, "in [0, 1e6]");
  require(system.units >= 1 && system.units <= 1 << 20, "units", system.units, "in [1, 2^20]");
}

/// A module system at many starts at once, in one flat buffer: factor after factor of module after module, in each unit
/// after unit, and there the starts side by side, so that loops over them become vectors.
class module_batch {
public:
  /// \param system  throws argument_error for one that makes no sense
  /// \param starts  how many, at least 1
  module_batch(module_system system, index starts) : system_(std::move(system)), starts_(starts) {
    require_valid(system_);
    require(starts >= 1 && starts <= 1 << 20, "starts", starts, "in [1, 2^20]");
    for (const module_shape& module : system_.modules) {
      first_.push_back(size_);
      size_ += static_cast<index>(module.powers.size()) * system_.units * starts;
    }
    masses_.resize(system_.modules.size() * static_cast<std::size_t>(starts));
  }

  /// The system.
  [[nodiscard]] const module_system& system() const noexcept { return system_; }
  /// Number of starts.
  [[nodiscard]] index starts() const noexcept { return starts_; }
  /// Number of weights of all starts.
  [[nodiscard]] index size() const noexcept { return size_; }

  /// Where the weights of a factor of a unit lie: the first of `starts()` that follow one another.
  [[nodiscard]] index place(std::size_t module, std::size_t factor, index unit) const noexcept {
    return first_[module] + (static_cast<index>(factor) * system_.units + unit) * starts_;
  }

  /// The masses of each start, one start after the other, each a mass for every module.
  [[nodiscard]] std::vector<double> masses(std::span<const float> weights) {
    require_extent("weights.size()", weights.size(), size_);
    std::vector<float> response(static_cast<std::size_t>(starts_));
    std::ranges::fill(masses_, 0.0);
    for (std::size_t i = 0; i < system_.modules.size(); ++i)
      for (index unit = 0; unit < system_.units; ++unit) {
        product(weights.data(), i, unit, response, [&](std::size_t f) { return powers(i)[f]; });
        for (index s = 0; s < starts_; ++s) mass(s, i) += response[static_cast<std::size_t>(s)];
      }
    for (double& of_start : masses_) of_start /= static_cast<double>(system_.units);
    return masses_;
  }

  /// The gradient of every start, each with noise of its own.
  /// \param signs  draws the noise; left alone where there is none
  void gradient(std::span<const float> weights, std::span<float> gradient, counter_generator& signs) {
    require_extent("gradient.size()", gradient.size(), size_);
    (void)masses(weights);
    const auto count = static_cast<std::size_t>(starts_), modules = system_.modules.size();
    std::vector<float> slope(count), loudness(count), of_signal(count), of_noise(count);
    for (std::size_t i = 0; i < modules; ++i) {
      for (std::size_t s = 0; s < count; ++s) {
        const std::span<const double> here(masses_.data() + s * modules, modules);
        const double felt = system_.error(here) * system_.sensitivity(i, here);
        slope[s] = static_cast<float>(-system_.signal * felt);
        loudness[s] = static_cast<float>(system_.noise * std::abs(felt));
      }
      for (std::size_t f = 0; f < powers(i).size(); ++f)
        for (index unit = 0; unit < system_.units; ++unit) {
          product(weights.data(), i, unit, of_signal, [&](std::size_t l) { return powers(i)[l] - (l == f ? 1 : 0); });
          float* const to = gradient.data() + place(i, f, unit);
          const auto power = static_cast<float>(powers(i)[f]);
          for (std::size_t s = 0; s < count; ++s) to[s] = slope[s] * power * of_signal[s];
          if (system_.noise == 0) continue;
          product(weights.data(), i, unit, of_noise, [f](std::size_t l) { return l == f ? 0 : 1; });
          for (std::size_t s = 0; s < count; s += 64) {
            const std::uint64_t bits = signs();
            for (std::size_t j = s; j < std::min(count, s + 64); ++j)
              to[j] += (bits >> (j - s) & 1 ? loudness[j] : -loudness[j]) * std::abs(of_noise[j]);
          }
        }
    }
  }

  /// Root mean square of a module's weights at one start.
  [[nodiscard]] double rms(std::span<const float> weights, std::size_t module, index start) const {
    double squares = 0;
    for (std::size_t f = 0; f < powers(module).size(); ++f)
      for (index unit = 0; unit < system_.units; ++unit) {
        const double x = weights[static_cast<std::size_t>(place(module, f, unit) + start)];
        squares += x * x;
      }
    return std::sqrt(squares / static_cast<double>(static_cast<index>(powers(module).size()) * system_.units));
  }

private:
  [[nodiscard]] const std::vector<int>& powers(std::size_t module) const noexcept {
    return system_.modules[module].powers;
  }
  [[nodiscard]] double& mass(index start, std::size_t module) noexcept {
    return masses_[static_cast<std::size_t>(start) * system_.modules.size() + module];
  }

  /// to = prod_l (x_l / scale)^power(l), of a unit's factors at all starts.
  template <class Power>
  void product(const float* weights, std::size_t module, index unit, std::vector<float>& to, const Power& power) const {
    const auto per_scale = static_cast<float>(1 / system_.scale);
    std::ranges::fill(to, 1.0F);
    for (std::size_t l = 0; l < powers(module).size(); ++l) {
      const float* const x = weights + place(module, l, unit);
      for (int times = power(l); times > 0; --times)
        for (std::size_t s = 0; s < to.size(); ++s) to[s] *= x[s] * per_scale;
    }
  }

  module_system system_;
  index starts_;
  index size_ = 0;
  std::vector<index> first_;
  std::vector<double> masses_;
};

}  // namespace lindyn::rates

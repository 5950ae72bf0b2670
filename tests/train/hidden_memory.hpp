// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A backend for tests whose memory the host can't touch: outside of its kernels, the pages are locked.

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <span>
#include <utility>

#include <lindyn/backend/backend.hpp>
#include <lindyn/optimizer/placed_step.hpp>

namespace lindyn::testing {

/// The pages of all arrays. They are open as long as one of these lives.
class open_pages {
public:
  open_pages() { protect(PROT_READ | PROT_WRITE); }
  ~open_pages() { protect(PROT_NONE); }
  open_pages(const open_pages&) = delete;
  open_pages& operator=(const open_pages&) = delete;

  static std::map<void*, std::size_t>& known() {
    static std::map<void*, std::size_t> pages;
    return pages;
  }

private:
  static void protect(int how) {
    for (const auto& [begin, bytes] : known()) mprotect(begin, bytes, how);
  }
};

/// What a trainer needs of a backend.
struct hidden_memory {
  static constexpr bool host_memory = false;
  int count = 1;

  hidden_memory() = default;
  explicit hidden_memory(int runs_of) : count(runs_of) {}

  template <class T>
  class array {
  public:
    array() = default;
    array(array&& from) noexcept : data_(std::exchange(from.data_, nullptr)), bytes_(std::exchange(from.bytes_, 0)) {}
    array& operator=(array&& from) noexcept {
      std::swap(data_, from.data_);
      std::swap(bytes_, from.bytes_);
      return *this;
    }
    ~array() { clear(); }
    void resize(std::size_t size) {
      if (size * sizeof(T) <= bytes_) return;
      clear();
      bytes_ = size * sizeof(T);
      data_ = static_cast<T*>(mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
      open_pages::known()[data_] = bytes_;
    }
    T* data() noexcept { return data_; }
    const T* data() const noexcept { return data_; }

  private:
    void clear() noexcept {
      if (data_ == nullptr) return;
      open_pages::known().erase(data_);
      munmap(data_, bytes_);
    }
    T* data_ = nullptr;
    std::size_t bytes_ = 0;
  };

  [[nodiscard]] int runs() const noexcept { return count; }
  template <class T>
  void fill(backend::run_vector<T> values, index size, T value) const {
    const open_pages opened;
    for (index run = 0; run < (values.run_stride == 0 ? 1 : count); ++run)
      std::fill_n(values.data + run * values.run_stride, size, value);
  }
  template <class T>
  void to_host(const T* from, std::span<T> to) const {
    const open_pages opened;
    std::copy_n(from, to.size(), to.begin());
  }
  template <class T>
  void from_host(std::span<const T> from, T* to) const {
    const open_pages opened;
    std::ranges::copy(from, to);
  }
  template <class T>
  void largest_magnitude(backend::run_vector<const T> values, index size, std::span<double> result) const {
    reduce(values, size, result,
           [](double sum, double x) { return std::isnan(sum) || std::abs(x) <= sum ? sum : std::abs(x); });
  }
  template <class T>
  void sum_of_squares(backend::run_vector<const T> values, index size, std::span<double> result) const {
    reduce(values, size, result, [](double sum, double x) { return sum + x * x; });
  }

private:
  template <class T, class Join>
  void reduce(backend::run_vector<const T> values, index size, std::span<double> result, Join join) const {
    const open_pages opened;
    for (index run = 0; run < count; ++run) {
      double& all = result[static_cast<std::size_t>(run)];
      all = 0;
      for (index i = 0; i < size; ++i) all = join(all, static_cast<double>(values.data[run * values.run_stride + i]));
    }
  }
};

template <class Formula, class Scalar>
void move_entries(hidden_memory& on, const optimizer::placed_step<Formula, Scalar>& step, index size) {
  const open_pages opened;
  for (index run = 0; run < on.runs(); ++run)
    for (index entry = 0; entry < size; ++entry) step(run, entry);
}

}  // namespace lindyn::testing

// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The backend of Thrust: kernels on a GPU, or on the host by one of Thrust's host systems. This header declares it, without
/// Thrust; lindyn/device_kernels.hpp, in exactly one unit of a program, defines it.

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <lindyn/backend/backend.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::backend {

/// How matrix products of float are computed on a GPU; elsewhere, and in double, there is no difference.
enum class products {
  full,  ///< as float
  tf32,  ///< factors are rounded to 10 bits of fraction, for tensor cores
};

namespace detail {

struct device_state;     // of an object
struct device_capture;   // of repeated work
struct device_deleter {  // of both, which are incomplete here
  void operator()(device_state* state) const noexcept;
  void operator()(device_capture* capture) const noexcept;
};

/// Memory of the device, which begins as zero.
[[nodiscard]] void* device_allocate(std::size_t bytes);
/// Gives it back; null is allowed.
void device_free(void* memory) noexcept;
/// Copies within it.
void device_copy(const void* from, void* to, std::size_t bytes);

/// The kernels, for float and double, see thrust_device.
template <class S>
struct device_calls {
  using input = strided_matrix<const S>;
  using output = strided_matrix<S>;
  using vector = run_vector<const S>;
  using vector_out = run_vector<S>;

  static void linear(device_state&, input x, input w, vector bias, output y, update how);
  static void linear_backward_input(device_state&, input dy, input w, output dx, update how);
  static void linear_backward_weights(device_state&, input dy, input x, output dw, vector_out dbias);
  static void layer_norm(device_state&, input x, vector gain, vector bias, output y, vector_out saved);
  static void layer_norm_backward(device_state&, input x, vector saved, vector gain, input dy, output dx, update how,
                                  vector_out dgain, vector_out dbias);
  static void activate(device_state&, activation kind, output x, output derivative);
  static void multiply(device_state&, output x, input factor);
  static void gather_rows(device_state&, input x, const index_table& rows, output y, update how);
  static void scatter_rows(device_state&, input dy, const row_table& table, output dx);
  static void attend(device_state&, int heads, input q, const index_table& query_rows, input k, input v,
                     const visible_keys& visible, vector_out patterns, output out);
  static void attend_backward(device_state&, int heads, input q, const row_table& query_table, input k, input v,
                              const visible_keys& visible, vector patterns, input dout, output dq, output dk,
                              output dv);
  static void cross_entropy(device_state&, input logits, const index_table& answers, const index_table& counts,
                            double scale, output dlogits, answer_score* scores);
  static void weighted_loss(device_state&, answer_loss kind, input logits, const index_table& answers,
                            run_vector<const double> weights, output dlogits, double* losses);
  static void scale(device_state&, vector_out values, index size, double factor);
  static void fill(device_state&, vector_out to, index size, S value);
  static void copy(device_state&, vector from, vector_out to, index size);
  static void largest_magnitude(device_state&, vector values, index size, std::span<double> result);
  static void sum_of_squares(device_state&, vector values, index size, std::span<double> result);
};

void device_upload(device_state&, const void* from, void* to, std::size_t bytes);
void device_download(device_state&, const void* from, void* to, std::size_t bytes);

}  // namespace detail

/// An array in the device's memory. New memory is zero. Throws device_error, or std::bad_alloc, where there is too little.
template <class T>
class device_array {
  static_assert(std::is_trivially_copyable_v<T>, "lindyn: only plain numbers are kept in a device's memory");

public:
  device_array() noexcept = default;
  /// So many zeros.
  explicit device_array(std::size_t size) { resize(size); }
  /// A copy in other memory.
  device_array(const device_array& from) : device_array(from.size_) {
    detail::device_copy(from.data(), data(), size_ * sizeof(T));
  }
  /// Takes the other's memory.
  device_array(device_array&& from) noexcept
      : memory_(std::move(from.memory_)), size_(std::exchange(from.size_, 0)), room_(std::exchange(from.room_, 0)) {}
  /// Becomes a copy, or takes the memory of what is given up.
  device_array& operator=(device_array from) noexcept {
    memory_.swap(from.memory_);
    std::swap(size_, from.size_);
    std::swap(room_, from.room_);
    return *this;
  }

  /// Changes the number of elements. If there never were so many, they all become zero; otherwise they stay.
  void resize(std::size_t size) {
    if (size > room_) {
      memory_.reset();
      size_ = room_ = 0;
      memory_.reset(detail::device_allocate(size * sizeof(T)));
      room_ = size;
    }
    size_ = size;
  }
  /// The first element, in the device's memory.
  [[nodiscard]] T* data() noexcept { return static_cast<T*>(memory_.get()); }
  /// The first element, in the device's memory.
  [[nodiscard]] const T* data() const noexcept { return static_cast<const T*>(memory_.get()); }
  /// Number of elements.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
  struct release {
    void operator()(void* memory) const noexcept { detail::device_free(memory); }
  };
  std::unique_ptr<void, release> memory_;
  std::size_t size_ = 0, room_ = 0;
};

/// Work that consists of the same kernels, on the same memory, each time: see thrust_device::repeat.
class repeated_work {
public:
  /// Forgets what was captured, for another work.
  void clear() noexcept { capture_.reset(), calls_ = 0; }

private:
  friend class thrust_device;
  std::unique_ptr<detail::device_capture, detail::device_deleter> capture_;
  int calls_ = 0;
};

/// Kernels on the device that lindyn/device_kernels.hpp was compiled for, for one or several runs at once. They are those of
/// the concept `backend`; what they were asked to do is done in order, and a copy to the host waits for it. A copy of the
/// object works by itself; one object must not be used by two threads at a time. On the systems cpp, omp and tbb, device
/// memory is the host's.
class thrust_device {
public:
  /// Memory of this backend.
  template <class T>
  using array = device_array<T>;

  static constexpr bool host_memory = false;  ///< the host can't read it

  /// \param runs  how many are computed at once
  /// \param how   matrix products of float are computed
  /// \throws argument_error  unless there are 1 to 65,535 runs
  /// \throws device_error    where there is no device
  explicit thrust_device(int runs = 1, products how = products::full);
  /// Another one with the same options.
  thrust_device(const thrust_device& from) : thrust_device(from.runs(), from.how()) {}
  /// The other must not be used any more.
  thrust_device(thrust_device&&) noexcept = default;
  /// Becomes another one with the same options, or takes the place of what is given up.
  thrust_device& operator=(thrust_device from) noexcept {
    state_.swap(from.state_);
    return *this;
  }

  /// How many runs are computed at once.
  [[nodiscard]] int runs() const noexcept;
  /// How matrix products of float are computed.
  [[nodiscard]] products how() const noexcept;
  /// What kernels run on: cpp, omp, tbb or cuda.
  [[nodiscard]] static std::string_view system() noexcept;
  /// Waits until all that was asked for is done.
  void finish();

  /// y = x W' + bias; `bias` may be null.
  template <class S>
  void linear(strided_matrix<const S> x, strided_matrix<const S> w, vector_argument<const S> bias, strided_matrix<S> y,
              update how) {
    detail::device_calls<S>::linear(*state_, x, w, bias, y, how);
  }

  /// dx = dy W.
  template <class S>
  void linear_backward_input(strided_matrix<const S> dy, strided_matrix<const S> w, strided_matrix<S> dx, update how) {
    detail::device_calls<S>::linear_backward_input(*state_, dy, w, dx, how);
  }

  /// dW = dy' x, dbias = column sums of dy; `dbias` may be null.
  template <class S>
  void linear_backward_weights(strided_matrix<const S> dy, strided_matrix<const S> x, strided_matrix<S> dw,
                               vector_argument<S> dbias) {
    detail::device_calls<S>::linear_backward_weights(*state_, dy, x, dw, dbias);
  }

  /// y = gain (x - mean) / sqrt(variance + 1e-5) + bias by rows; saved: mean and 1 / deviation.
  template <class S>
  void layer_norm(strided_matrix<const S> x, vector_argument<const S> gain, vector_argument<const S> bias,
                  strided_matrix<S> y, vector_argument<S> saved) {
    detail::device_calls<S>::layer_norm(*state_, x, gain, bias, y, saved);
  }

  /// Derivatives of layer_norm by x, gain and bias.
  template <class S>
  void layer_norm_backward(strided_matrix<const S> x, vector_argument<const S> saved, vector_argument<const S> gain,
                           strided_matrix<const S> dy, strided_matrix<S> dx, update how, vector_argument<S> dgain,
                           vector_argument<S> dbias) {
    detail::device_calls<S>::layer_norm_backward(*state_, x, saved, gain, dy, dx, how, dgain, dbias);
  }

  /// x = f(x), derivative = f'(x).
  template <class S>
  void activate(activation kind, strided_matrix<S> x, strided_matrix<S> derivative) {
    detail::device_calls<S>::activate(*state_, kind, x, derivative);
  }

  /// x = x factor, entry by entry.
  template <class S>
  void multiply(strided_matrix<S> x, strided_matrix<const S> factor) {
    detail::device_calls<S>::multiply(*state_, x, factor);
  }

  /// y[i] = x[rows[i]].
  template <class S>
  void gather_rows(strided_matrix<const S> x, const index_table& rows, strided_matrix<S> y, update how) {
    detail::device_calls<S>::gather_rows(*state_, x, rows, y, how);
  }

  /// dx[rows[i]] += dy[i], in the order of i, by the table's inverse lists.
  template <class S>
  void scatter_rows(strided_matrix<const S> dy, const row_table& table, strided_matrix<S> dx) {
    detail::device_calls<S>::scatter_rows(*state_, dy, table, dx);
  }

  /// Attention of several heads over the visible keys; see the concept.
  template <class S>
  void attend(int heads, strided_matrix<const S> q, const index_table& query_rows, strided_matrix<const S> k,
              strided_matrix<const S> v, const visible_keys& visible, vector_argument<S> patterns,
              strided_matrix<S> out) {
    detail::device_calls<S>::attend(*state_, heads, q, query_rows, k, v, visible, patterns, out);
  }

  /// Derivatives of attend by q, k and v, by the inverse lists of both tables.
  template <class S>
  void attend_backward(int heads, strided_matrix<const S> q, const row_table& query_table, strided_matrix<const S> k,
                       strided_matrix<const S> v, const visible_keys& visible, vector_argument<const S> patterns,
                       strided_matrix<const S> dout, strided_matrix<S> dq, strided_matrix<S> dk, strided_matrix<S> dv) {
    detail::device_calls<S>::attend_backward(*state_, heads, q, query_table, k, v, visible, patterns, dout, dq, dk, dv);
  }

  /// Loss in double, right answers, and scale count (softmax - 1[answer]).
  template <class S>
  void cross_entropy(strided_matrix<const S> logits, const index_table& answers, const index_table& counts,
                     double scale, strided_matrix<S> dlogits, answer_score* scores) {
    detail::device_calls<S>::cross_entropy(*state_, logits, answers, counts, scale, dlogits, scores);
  }

  /// The sum of weight x loss in double, and weight times each loss's derivative.
  template <class S>
  void weighted_loss(answer_loss kind, strided_matrix<const S> logits, const index_table& answers,
                     run_vector<const double> weights, strided_matrix<S> dlogits, double* losses) {
    detail::device_calls<S>::weighted_loss(*state_, kind, logits, answers, weights, dlogits, losses);
  }

  /// The first `size` entries of each run are multiplied.
  template <class S>
  void scale(run_vector<S> values, index size, double factor) {
    detail::device_calls<S>::scale(*state_, values, size, factor);
  }

  /// The first `size` entries of each run become `value`.
  template <class S>
  void fill(run_vector<S> to, index size, S value) {
    detail::device_calls<S>::fill(*state_, to, size, value);
  }

  /// The first `size` entries of each run of `to` become those of `from`.
  template <class S>
  void copy(run_vector<const S> from, vector_argument<S> to, index size) {
    detail::device_calls<S>::copy(*state_, from, to, size);
  }

  /// The largest magnitude of each run's first `size` entries; NaN or infinite if there is one that is.
  template <class S>
  void largest_magnitude(run_vector<const S> values, index size, std::span<double> result) {
    detail::device_calls<S>::largest_magnitude(*state_, values, size, result);
  }

  /// The sum of squares, in double, of each run's first `size` entries.
  template <class S>
  void sum_of_squares(run_vector<const S> values, index size, std::span<double> result) {
    detail::device_calls<S>::sum_of_squares(*state_, values, size, result);
  }

  /// Copies from the host; what is at `from` may change at once.
  template <class T>
  void from_host(std::span<const T> from, T* to) {
    static_assert(std::is_trivially_copyable_v<T>, "lindyn: only plain numbers are copied to a device's memory");
    detail::device_upload(*state_, from.data(), to, from.size_bytes());
  }

  /// Copies to the host, once all kernels before are done.
  template <class T>
  void to_host(const T* from, std::span<T> to) {
    static_assert(std::is_trivially_copyable_v<T>, "lindyn: only plain numbers are copied from a device's memory");
    detail::device_download(*state_, from, to.data(), to.size_bytes());
  }

  /// Does work() whose kernels are the same each time, on the same memory and of the same sizes. On a GPU the first call
  /// does it as it is, so that all memory is there, the second one captures its kernels as a CUDA graph, and from then on
  /// that is launched: a fraction of the time where kernels are short. It must neither copy from or to the host nor
  /// allocate; what differs from call to call is read from device memory.
  template <class Work>
  void repeat(repeated_work& memory, Work&& work) {
    if (memory.calls_++ == 0 || !can_capture()) return work();
    if (!memory.capture_) memory.capture_ = captured(work);
    launch(*memory.capture_);
  }

  /// What kernels of other rooms run on; for the unit of kernels alone.
  [[nodiscard]] detail::device_state& state() noexcept { return *state_; }

private:
  using capture = std::unique_ptr<detail::device_capture, detail::device_deleter>;

  [[nodiscard]] static bool can_capture() noexcept;
  void begin_capture();
  [[nodiscard]] capture end_capture();
  void abandon_capture() noexcept;
  void launch(detail::device_capture& captured);

  template <class Work>
  [[nodiscard]] capture captured(Work& work) {
    begin_capture();
    try {
      work();
    } catch (...) {
      abandon_capture();
      throw;
    }
    return end_capture();
  }

  std::unique_ptr<detail::device_state, detail::device_deleter> state_;
};

static_assert(backend<thrust_device, float> && backend<thrust_device, double>);

}  // namespace lindyn::backend

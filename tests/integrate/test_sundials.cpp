// SPDX-License-Identifier: MIT
// Stiff flows beside those of CVODE of SUNDIALS 6, where it is installed; elsewhere this says that it isn't, and the test
// counts as skipped.
#include <doctest/doctest.h>

#ifdef LINDYN_SUNDIALS

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <lindyn/integrate/stiff_flow.hpp>

using lindyn::integrate::state;
using lindyn::integrate::stiff_flow;
using lindyn::integrate::system_ref;

namespace {

/// The end of the flow of f by CVODE's backward differentiation formulas, with a Jacobian of differences.
state by_cvode(system_ref f, const state& start, double until, double relative, double absolute) {
  const auto size = static_cast<sunindextype>(start.size());
  SUNContext context = nullptr;
  REQUIRE(SUNContext_Create(nullptr, &context) == 0);
  N_Vector y = N_VNew_Serial(size, context);
  std::ranges::copy(start, N_VGetArrayPointer(y));
  SUNMatrix matrix = SUNDenseMatrix(size, size, context);
  SUNLinearSolver solver = SUNLinSol_Dense(y, matrix, context);
  void* memory = CVodeCreate(CV_BDF, context);
  const auto call = [](realtype t, N_Vector x, N_Vector dxdt, void* data) -> int {
    state result(static_cast<std::size_t>(N_VGetLength(x)));
    const double* values = N_VGetArrayPointer(x);
    (*static_cast<system_ref*>(data))(state(values, values + result.size()), result, t);
    std::ranges::copy(result, N_VGetArrayPointer(dxdt));
    return 0;
  };
  REQUIRE(CVodeInit(memory, call, 0, y) == CV_SUCCESS);
  REQUIRE(CVodeSStolerances(memory, relative, absolute) == CV_SUCCESS);
  REQUIRE(CVodeSetUserData(memory, &f) == CV_SUCCESS);
  REQUIRE(CVodeSetLinearSolver(memory, solver, matrix) == CV_SUCCESS);
  REQUIRE(CVodeSetMaxNumSteps(memory, 1'000'000) == CV_SUCCESS);
  REQUIRE(CVodeSetStopTime(memory, until) == CV_SUCCESS);
  double t = 0;
  REQUIRE(CVode(memory, until, y, &t, CV_NORMAL) >= 0);
  const state result(N_VGetArrayPointer(y), N_VGetArrayPointer(y) + size);
  CVodeFree(&memory);
  SUNLinSolFree(solver);
  SUNMatDestroy(matrix);
  N_VDestroy(y);
  SUNContext_Free(&context);
  return result;
}

/// Largest difference of coordinates in units of the larger one.
double difference(const state& a, const state& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::abs(a[i] - b[i]) / std::max(std::abs(a[i]), std::abs(b[i])));
  return largest;
}

}  // namespace

TEST_CASE("van der Pol's oscillator ends where CVODE's does") {
  for (const double eps : {1e-1, 1e-3, 1e-5}) {
    const auto oscillator = [&](const state& x, state& dxdt, double) {
      dxdt[0] = x[1];
      dxdt[1] = ((1 - x[0] * x[0]) * x[1] - x[0]) / eps;
    };
    const state theirs = by_cvode(oscillator, {2, 0}, 2, 1e-10, 1e-12);
    const auto ours = stiff_flow(system_ref(oscillator), {2, 0}, 0, 2, {.tolerance = 1e-8});
    CAPTURE(eps);
    // Both tolerances are those of single steps, whose errors add up.
    CHECK(difference(ours.state, theirs) < 1e-6);
  }
}

TEST_CASE("Robertson's reactions end where CVODE's do") {
  const auto reactions = [](const state& x, state& dxdt, double) {
    dxdt[0] = -0.04 * x[0] + 1e4 * x[1] * x[2];
    dxdt[2] = 3e7 * x[1] * x[1];
    dxdt[1] = -dxdt[0] - dxdt[2];
  };
  for (const double until : {0.4, 4e2, 4e6}) {
    const state theirs = by_cvode(reactions, {1, 0, 0}, until, 1e-10, 1e-16);
    const auto ours =
        stiff_flow(system_ref(reactions), {1, 0, 0}, 0, until, {.tolerance = 1e-8, .absolute_tolerance = 1e-14});
    CAPTURE(until);
    CHECK(difference(ours.state, theirs) < 1e-6);
  }
}

TEST_CASE("a fast relaxation to what moves with time ends where CVODE's does") {
  const auto relaxation = [](const state& x, state& dxdt, double t) {
    dxdt[0] = -1e5 * (x[0] - std::cos(t));
    dxdt[1] = x[0] - x[1] * (1 + std::sin(3 * t));
  };
  const state theirs = by_cvode(relaxation, {0, 1}, 10, 1e-10, 1e-12);
  const auto ours = stiff_flow(system_ref(relaxation), {0, 1}, 0, 10, {.tolerance = 1e-8});
  CHECK(difference(ours.state, theirs) < 1e-6);
}

#else

TEST_CASE("stiff flows beside CVODE's") { MESSAGE("skipped: SUNDIALS 6 is not installed"); }

#endif

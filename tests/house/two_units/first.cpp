// SPDX-License-Identifier: MIT
#include <lindyn/flows.hpp>
#include <lindyn/lindyn.hpp>
#include <lindyn/storage.hpp>

int main() {}

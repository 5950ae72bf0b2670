// SPDX-License-Identifier: MIT
// expect: a sentence that no compiler says, as there is nothing wrong here
int main() {}

// SPDX-License-Identifier: MIT
// expect: a sentence that no compiler says, as another thing is wrong here
int main() { return nothing_of_this_name; }

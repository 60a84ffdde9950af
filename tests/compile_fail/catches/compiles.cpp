// SPDX-License-Identifier: Apache-2.0
// expect: error
int main() {}

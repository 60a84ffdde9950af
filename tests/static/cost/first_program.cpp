// SPDX-License-Identifier: Apache-2.0
// The numbers of README's first program for tests/static/compile_cost.py. They hold for g++ 12.
// program: README.md
// operations: 897549
// functions: 7289

# SPDX-License-Identifier: Apache-2.0
# Marks the fields of docstrings for doxygen, on as many lines as before:
#
#     /// dims    those of `x`             ///
#     ///         without `d`              /// @field{dims} those of `x`
#
# A field's other lines are indented, which would make code of them. `///   name  text` is one of several results.

BEGIN { fields = "^(dims|dtype|layout|grad|errors|source|state|states|parameters|results|arguments)  +" }

!/^ *\/\/\// { in_field = 0; print; next }

{
  at = index($0, "///")
  indent = substr($0, 1, at + 2)
  text = substr($0, at + 4)
  if (text ~ fields || text ~ /^errors [A-Z][0-9][0-9]/) {
    word = text
    sub(/ .*/, "", word)
    sub(/^[a-z]+ +/, "", text)
    in_field = 1
    print indent " @field{" word "} " text
  } else if (text ~ /^  [a-z_]+  +/) {
    sub(/^  /, "", text)
    word = text
    sub(/ .*/, "", word)
    sub(/^[a-z_]+ +/, "", text)
    in_field = 1
    print indent " - `" word "` " text
  } else {
    if (text == "") in_field = 0
    if (in_field) sub(/^ +/, "", text)
    gsub(/\. errors /, ".@field{errors} ", text)
    print indent " " text
  }
}

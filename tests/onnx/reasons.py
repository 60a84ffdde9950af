# SPDX-License-Identifier: Apache-2.0
"""The node cases that do not run, each with its reason.

It is an error if a case is neither here nor in translations/, if a reason has no case, or if a case has two reasons.
"""

# Kinds of nodes for which the library has no operation.
NO_OPERATION = {
    "no inverse trigonometric functions": ["Acos", "Asin", "Atan"],
    "no operations on bits": ["BitCast", "BitShift", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor"],
    "no products along a dim": ["CumProd", "ReduceProd"],
    "no results whose extents depend on data": ["Compress", "NonMaxSuppression", "NonZero", "Unique"],
    "no determinants": ["Det"],
    "no complex numbers": ["DFT", "STFT"],
    "no lookups between elements": ["DeformConv", "GridSample", "RoiAlign"],
    "no trees, tables of labels or counts of words": ["LabelEncoder", "TfIdfVectorizer", "TreeEnsemble"],
    "no texts in programs": ["RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit"],
    "no sequences and no values that may be absent": [
        "OptionalHasElement",
        "SequenceInsert",
        "SequenceMap",
        "SplitToSequence",
    ],
    "images are decoded by the input pipelines, not by programs": ["ImageDecoder"],
    "random numbers are drawn otherwise": ["Bernoulli"],
}
# Kinds of nodes that could be written, but as so many steps that the translation would be tested, not the library.
NOT_WRITTEN = {
    "a graph inside the node": ["If", "Loop", "Scan"],
    "a formula of many steps": [
        "AffineGrid",
        "CausalConvWithState",
        "Col2Im",
        "LinearAttention",
        "MaxUnpool",
        "MelWeightMatrix",
    ],
    "its own formula of an optimizer": ["Adagrad", "Adam", "Momentum"],
    "one case, of a kernel of one element in u8": ["QLinearConv"],
    "no operands": ["Constant"],
}
# Single cases, by regular expressions of whole names without "test_".
CASES = {
    "no positions of max pools": r"maxpool_with_argmax_.*",
    "no scatter with max, min or multiply": r"scatter(nd|_elements)_.*(max|min|mul).*",
    "no cubic resizing": r"resize_.*_cubic.*",
    "no resizing with antialiasing": r"resize_.*_linear_antialias",
    "resizing takes the nearest element by rounding down": (
        r"resize_(downsample_scales_nearest|(up|down)sample_sizes_nearest"
        r"(_axes_.*|_not_.*|_floor_align_corners|_ceil_half_pixel|_round_prefer_ceil_asymmetric)?)"
    ),
    "resizing takes the whole dim": r"resize_tf_crop_.*",
    "resizing has no symmetric places": r"resize_.*_half_pixel_symmetric",
    "resizing has no half pixels of one element": r"resize_downsample_sizes_linear_pytorch_half_pixel",
    "resizing to a half is by extents, not by a scale": r"resize_downsample_scales_linear(_align_corners)?",
    "a tensor has each dim once: no diagonals": r"einsum_batch_diagonal",
    "random numbers are drawn otherwise": r"training_dropout_(default|default_mask)|training_dropout(_mask)?",
    "expected values of four digits": r"averagepool_2d_ceil_last_window_starts_on_pad",
    "a graph inside the node": r"flexattention_(score_mod|prob_mod|causal_mask|soft_cap|relative_positional)",
}

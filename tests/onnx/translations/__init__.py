# SPDX-License-Identifier: Apache-2.0
"""How each kind of ONNX's nodes is written with the library's operations."""

from translations import attention, elementwise, layers, lookups, movement, recurrent, reductions, windows

__all__ = ["attention", "elementwise", "layers", "lookups", "movement", "recurrent", "reductions", "windows"]

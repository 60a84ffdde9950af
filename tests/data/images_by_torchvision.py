# SPDX-License-Identifier: Apache-2.0
"""Writes small image files of twenty kinds, and what torchvision makes of them to judge a network by: the shorter side
resized to 256, the middle 224 x 224. tests/data/images_by_torchvision.cpp must find the same.

    python3 images_by_torchvision.py            # Pillow 13.0, torchvision 0.29; writes the folder images_by_torchvision

`expected` has of each file, in the order of their names, the RGB bytes of every seventh pixel of every seventh row.
"""

import io
import pathlib
import struct
import zlib

import numpy as np
import torchvision.transforms.v2 as transforms
from PIL import Image

FOLDER = pathlib.Path(__file__).with_suffix("")


def picture(rng, height, width, channels=3):
    """Waves, a few discs and some noise."""
    y, x = np.mgrid[0:height, 0:width].astype(float)
    planes = []
    for _ in range(channels):
        a, b, c = rng.uniform(-0.15, 0.15, 3)
        plane = 128 + 60 * np.sin(a * x + b * y + 40 * c) + 40 * np.sin(0.9 * b * x - 1.1 * a * y)
        planes.append(plane + rng.normal(0, 6, plane.shape))
    for _ in range(4):
        i, j, r = rng.uniform(0, height), rng.uniform(0, width), rng.uniform(3, 0.3 * min(height, width) + 4)
        inside = (y - i) ** 2 + (x - j) ** 2 < r * r
        for plane in planes:
            plane[inside] = rng.uniform(0, 255)
    all_of_them = np.clip(np.stack(planes, 2), 0, 255).astype(np.uint8)
    return all_of_them[:, :, 0] if channels == 1 else all_of_them


def saved(image, kind, **options):
    to = io.BytesIO()
    image.save(to, kind, **options)
    return to.getvalue()


def jpeg(pixels, mode="RGB", **options):
    return saved(Image.fromarray(pixels, mode), "JPEG", **{"quality": 80, **options})


def png_by_hand(pixels, kind, bits):
    """Kinds that Pillow does not write: `pixels` are rows of big-endian numbers."""
    height, width = pixels.shape[:2]

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def files(rng):
    some = lambda h, w, channels=3: picture(rng, h, w, channels)
    palette = Image.fromarray(some(60, 70)).quantize(40)
    yield "jpeg_444.jpg", jpeg(some(64, 80), subsampling=0)
    yield "jpeg_422.jpg", jpeg(some(71, 53), subsampling=1)
    yield "jpeg_420.jpg", jpeg(some(67, 91), subsampling=2)
    yield "jpeg_large.jpg", jpeg(some(375, 500), quality=35)
    yield "jpeg_tall.jpeg", jpeg(some(431, 290), quality=35)
    yield "jpeg_progressive.JPEG", jpeg(some(64, 64), progressive=True)
    yield "jpeg_restarts.jpg", jpeg(some(64, 96), restart_marker_blocks=3)
    yield "jpeg_grey.jpg", jpeg(some(50, 77, 1), "L")
    yield "jpeg_inks.jpg", jpeg(some(58, 58, 4), "CMYK")
    yield "jpeg_rgb.jpg", jpeg(some(40, 60), keep_rgb=True)
    yield "jpeg_turned.jpg", jpeg(some(40, 60), exif=b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0")
    yield "jpeg_narrow.jpg", jpeg(some(9, 33))
    yield "png_rgb.png", saved(Image.fromarray(some(48, 56)), "PNG")
    yield "png_rgba.png", saved(Image.fromarray(some(48, 56, 4), "RGBA"), "PNG")
    yield "png_grey.png", saved(Image.fromarray(some(64, 48, 1), "L"), "PNG")
    yield "png_grey_alpha.png", saved(Image.fromarray(some(33, 48, 2), "LA"), "PNG")
    yield "png_palette.png", saved(palette, "PNG", transparency=3)
    yield "png_black_white.png", saved(Image.fromarray(some(64, 64, 1), "L").convert("1"), "PNG")
    deep = (some(40, 44).astype(">u2") * 256 + some(40, 44)).astype(">u2")
    yield "png_16_bits.png", png_by_hand(deep, 2, 16)
    yield "png_named.jpg", saved(Image.fromarray(some(64, 80)), "PNG")


def main():
    FOLDER.mkdir(exist_ok=True)
    for name, data in files(np.random.default_rng(1)):
        (FOLDER / name).write_bytes(data)
    judged = transforms.Compose([transforms.Resize(256, antialias=True), transforms.CenterCrop(224)])
    with open(FOLDER / "expected", "wb") as expected:
        for path in sorted(FOLDER.iterdir()):
            if path.name != "expected":
                with Image.open(path) as image:
                    pixels = np.asarray(judged(image.convert("RGB")))
                assert pixels.shape == (224, 224, 3)
                expected.write(pixels[::7, ::7].tobytes())


main()

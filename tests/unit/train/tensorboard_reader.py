# SPDX-License-Identifier: Apache-2.0
"""Prints the numbers in the event files of a folder, with nothing but Python's own library: the framing of TFRecord with
its masked CRC32C, and the few fields of the message Event that hold numbers.

    python3 tensorboard_reader.py FOLDER
"""

import pathlib
import struct
import sys

TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    TABLE.append(byte)


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    while data:
        (size,) = struct.unpack_from("<Q", data)
        assert struct.unpack_from("<I", data, 8)[0] == masked_crc(data[:8]), "the checksum of a size"
        body = data[12 : 12 + size]
        assert len(body) == size and struct.unpack_from("<I", data, 12 + size)[0] == masked_crc(body), "a checksum"
        yield body
        data = data[16 + size :]


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        else:
            size, layout = {1: (8, "<d"), 5: (4, "<f")}[key & 7]
            value, at = struct.unpack_from(layout, data, at)[0], at + size
        yield key >> 3, value


def main():
    for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        assert path.name.startswith("events.out.tfevents."), path
        print("file")
        for record in records(path.read_bytes()):
            event = dict(fields(record))
            assert event[1] > 1e9  # seconds
            if 3 in event:
                print("version", event[3].decode())
            if 7 in event:
                print("begins at", event.get(2, 0))
            for number, summary in fields(event.get(5, b"")):
                assert number == 1
                value = dict(fields(summary))
                print(event.get(2, 0), value[1].decode(), f"{value.get(2, 0.0):.9g}")  # zeros are left out


main()

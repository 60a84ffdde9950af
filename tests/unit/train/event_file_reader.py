# SPDX-License-Identifier: Apache-2.0
"""Prints what TensorBoard's own readers find in the event files of a folder: each event of each file, then what it draws
of all of them. Ends with 77 where there is no TensorBoard.

    python3 event_file_reader.py FOLDER
"""

import logging
import pathlib
import sys

try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader
except ImportError as missing:
    print(missing)
    sys.exit(77)


def main():
    logging.disable()
    folder = pathlib.Path(sys.argv[1])
    for path in sorted(folder.iterdir()):
        print("file")
        for event in LegacyEventFileLoader(str(path)).Load():
            assert event.wall_time > 1e9
            if event.HasField("file_version"):
                print("version", event.file_version)
            if event.HasField("session_log"):
                print("session", event.session_log.status, event.step)
            for value in event.summary.value:
                plugin = value.metadata.plugin_data.plugin_name
                shown = f"text {value.tensor.string_val[0].decode()}" if plugin == "text" else f"{value.simple_value:.9g}"
                print(event.step, value.tag, shown)
    print("drawn")
    all_files = EventAccumulator(str(folder)).Reload()
    for tag in sorted(all_files.Tags()["scalars"]):
        print(tag, *(f"{e.step}:{e.value:.9g}" for e in all_files.Scalars(tag)))
    for tag in sorted(all_files.Tags()["tensors"]):
        print(tag, *(f"{e.step}:{e.tensor_proto.string_val[0].decode()}" for e in all_files.Tensors(tag)))


main()

"""Hone's Python worker: answers requests of the hone binary, which carries this file and starts it as `python3 -c`.

A request and a reply are one JSON object each, as UTF-8 bytes after their length (4 bytes, little end first), on the
standard input and output that the process was started with. Anything that is printed goes to the error output. A reply
holds the result, or "error" with what went wrong, or "missing_module".

The program is this file and then the others of this folder, in the order of src/CMakeLists.txt: conversation.py is the
last. Needs Python 3.7. Packages beyond the standard library are imported by the operation that needs them.
"""

import sys

sys.path[:] = [entry for entry in sys.path if entry not in ("", ".")]  # no modules from the working folder

import datetime
import json
import os
import signal
import struct


class Failure(Exception):
    """What a reply gives as its error."""


OPERATIONS = {}  # name: function of the request that gives the reply
WITHOUT_ALARM = set()  # names of those that hone alone puts an end to

#!/usr/bin/env python3
"""Walks through the console and the page about the API as an administrator, a guardian, an auditor and an attacker would, in Debian's Chromium.

console.py URL --admin EMAIL PASSWORD --guardian EMAIL PASSWORD --second EMAIL PASSWORD --database URL --artefacts FOLDER
           [--nagz PROGRAM --key KEY] [--only STEP …]

Screenshots of each step stay in the folder. Every exception and every error in the browser's console fails the walk.
"""
import argparse
import pathlib
import sys
import time
import traceback

import reading  # noqa: F401 each module adds its steps, in this order
import order  # noqa: F401
import pages  # noqa: F401
import constraints  # noqa: F401
import drafts  # noqa: F401
import questions  # noqa: F401
import apipage  # noqa: F401
import everyday  # noqa: F401
import languages  # noqa: F401
import looks  # noqa: F401
import hostile  # noqa: F401
import truth  # noqa: F401
from chromium import Browser
from walk import STEPS, Walk


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    for person in ("--admin", "--guardian", "--second"):
        parser.add_argument(person, nargs=2, required=True)
    parser.add_argument("--database", required=True)
    parser.add_argument("--artefacts", type=pathlib.Path, required=True)
    parser.add_argument("--chromium", default="chromium")
    parser.add_argument("--nagz")
    parser.add_argument("--key")
    parser.add_argument("--only", nargs="+", help="these steps alone, as a guardian who is signed in already")
    options = parser.parse_args()
    options.artefacts = options.artefacts.resolve()
    options.artefacts.mkdir(parents=True, exist_ok=True)
    for old in [file for kind in ("*.png", "*.ndjson", "*.csv", "*.json") for file in options.artefacts.glob(kind)]:
        old.unlink()
    steps = [one for one in STEPS if not options.only or one.__name__ in options.only]
    # A name that is no secure context, which plain HTTP is not either.
    with Browser(options.chromium, options.artefacts, "--host-resolver-rules=MAP console.test 127.0.0.1") as browser:
        walk = Walk(options, browser)
        if options.only:
            browser.look()
            browser.open(walk.base + "/console")
            walk.sign_in(*options.guardian)
        for one in steps:
            started = time.monotonic()
            try:
                one(walk)
            except Exception as problem:
                walk.shot(f"failed-{one.__name__}")
                at = traceback.extract_tb(problem.__traceback__)[1]
                print(f"error: {one.__name__}, line {at.lineno}: {problem or at.line}; {browser.problems}")
                return 1
            if browser.problems:
                print(f"error: {one.__name__}: the browser says {browser.problems}")
                return 1
            print(f"ok      {one.__name__} {time.monotonic() - started:.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

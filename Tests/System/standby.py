"""Families that write AI events and read their whole feed, each at the same time, until standard input ends: standby.py URL

A reader begins anew each time. Its pages must have every event that was acknowledged before its first request, and none twice;
`server_time` must not go back. Prints how much was read and written; exits with 1 and the reason where something was wrong.
"""
import io
import itertools
import sys
import threading
import time
import urllib.parse

import writes

PAUSE = 0.05  # seconds between the writes of a family


class Writer(writes.Family):
    """Writes one AI event after the other."""

    def __init__(self, address):
        super().__init__(io.StringIO(), [address])
        self.daemon = True
        self.begun = self.acknowledged_events = 0

    def run(self):
        while not writes.over.is_set():
            self.begun += 1
            status, _ = self.ask("POST", "/ai/select-tone", {"nag_id": self.nag})
            if status != 201:
                faults.append(f"a write was answered {status}")
            else:
                self.acknowledged_events += 1
            time.sleep(PAUSE)


class Reader(writes.Family):
    """Reads the whole feed of a writer's family, by cursor and by `since` in turn."""

    def __init__(self, address, writer):
        super().__init__(io.StringIO(), [address])
        self.daemon = True
        self.writer, self.token, self.newest, self.rounds = writer, writer.token, "", 0

    def run(self):
        try:
            for number in itertools.count():
                if writes.over.is_set():
                    return
                self.read("cursor" if number % 2 else "since")
                self.rounds += 1
        except Exception as fault:
            faults.append(repr(fault))

    def read(self, by):
        # No cursor of this family: it reads from the beginning, by cursor.
        least, events, position = self.writer.acknowledged_events, {}, "&cursor=none" if by == "cursor" else ""
        while True:
            status, page = self.ask("GET", f"/sync/events?family_id={self.writer.home}{position}")
            if status != 200:
                raise RuntimeError(f"a read was answered {status}")
            rows = [row["id"] for row in page["ai_mediation_events"]]
            if by == "cursor" and events.keys() & set(rows):
                raise RuntimeError("a row came twice")
            events.update(dict.fromkeys(rows))
            if not page["has_more"]:
                break
            since = page["server_time"][:19] + "Z"
            position = f"&cursor={page['cursor']}" if by == "cursor" else f"&since={since}"
        if not least <= len(events) <= self.writer.begun:
            raise RuntimeError(f"{len(events)} events, of {least} acknowledged before and {self.writer.begun} begun")
        if page["server_time"] < self.newest:
            raise RuntimeError(f"server_time went back from {self.newest} to {page['server_time']}")
        self.newest = page["server_time"]


faults = []


def main():
    address = urllib.parse.urlsplit(sys.argv[1]).netloc
    writers = [Writer(address) for _ in range(writes.FAMILIES)]
    for writer in writers:
        writer.set_up()
    readers = [Reader(address, writer) for writer in writers]
    for each in writers + readers:
        each.start()
    threading.Thread(target=lambda: (sys.stdin.read(), writes.over.set()), daemon=True).start()
    while not writes.over.wait(0.1) and not faults:
        pass
    writes.over.set()
    for each in writers + readers:
        each.join(30)
    if faults or any(each.is_alive() for each in writers + readers) or not all(reader.rounds for reader in readers):
        sys.exit("\n".join(faults) or "a thread did not end, or read nothing")
    print(f"{sum(reader.rounds for reader in readers)} whole reads beside {sum(writer.begun for writer in writers)} writes: none"
          " failed, none lacked an acknowledged event, none went back")


main()

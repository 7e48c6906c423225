#!/usr/bin/env python3
"""What connections cost the others: started by `deploy/bench connections`, with the environment of bench.py. Prints the figures
as JSON.

1. 10,000 idle keep-alive connections: memory of each, and the slowest hundredth of W3 beside them as a ratio to the same without.
2. A connection for each request: requests a second and their cost beside keep-alive, and descriptors afterwards.
3. 1,000 clients that send a header byte by byte: W3 beside them, and that each is cut off.
4. 500 clients that ask for full pages and read 100 bytes a second, over segments as long as on the internet: W3 beside them,
   memory, and that each is cut off.

Clients come from 127.0.1.x, so that no address has too many connections.
"""
import argparse
import json
import selectors
import signal
import socket
import statistics
import sys
import threading
import time

import bench
import machine

IDLE, SLOW_SENDERS, SLOW_READERS = 10_000, 1_000, 500
PAGES = 4  # that a slow reader asks for at once
SEGMENT = 1400  # bytes; with those of the loopback interface the kernel would take megabytes for each connection
ACTIVE = 16  # connections of W3, so that both processors are busy but none waits long


def progress(words):
    print(words, file=sys.stderr, flush=True)


def connect(port, number, receive_buffer=None):
    connection = socket.socket()
    if receive_buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, SEGMENT)
    connection.settimeout(30)
    connection.bind((f"127.0.1.{1 + number % 200}", 0))
    connection.connect(("127.0.0.1", port))
    return connection


def active(server, seconds):
    run = bench.wrk("W3", server.port, ACTIVE, seconds)
    if run["non_2xx"] or run["socket_errors"]:
        sys.exit(f"deploy/bench: W3 beside other connections: {run}")
    return run


def ratio(beside, without):
    return round(statistics.median(run["p99_ms"] for run in beside) / statistics.median(run["p99_ms"] for run in without), 2)


# MARK: idle


def open_idle(server):
    """Connections that have had one answer."""
    opened = [connect(server.port, number) for number in range(IDLE)]
    answered = 0
    for connection in opened:
        connection.sendall(b"GET /api/v1/version HTTP/1.1\r\nHost: bench\r\n\r\n")
    for connection in opened:
        answered += connection.recv(4096).startswith(b"HTTP/1.1 200")
    return opened, answered


def idle(server, options):
    without, beside, accepted, kept = [], [], [], []
    bytes_each = None
    for turn in range(options.runs):
        progress(f"{IDLE} idle connections, turn {turn + 1}")
        without.append(active(server, options.seconds))
        before = machine.resident_bytes(server.process.pid)
        opened, answered = open_idle(server)
        accepted.append(answered)
        # The first time, when no memory of closed connections is used again.
        bytes_each = bytes_each or round((machine.resident_bytes(server.process.pid) - before) / IDLE)
        beside.append(active(server, options.seconds))
        kept.append(still_open(opened))
        for connection in opened:
            connection.close()
        wait_for_descriptors(server, 30)
    return {"accepted": min(accepted), "kept": min(kept), "bytes_each": bytes_each, "p99_ratio": ratio(beside, without),
            "p99_ms": statistics.median(run["p99_ms"] for run in beside)}


def still_open(connections):
    """How many of the idle connections the server has not closed: a closed one is readable."""
    with selectors.EpollSelector() as selector:
        for connection in connections:
            selector.register(connection, selectors.EVENT_READ)
        return len(connections) - len(selector.select(0))


def wait_for_descriptors(server, seconds):
    """Until the server has no more descriptors than when nobody was connected; how long that took."""
    began = time.monotonic()
    while machine.descriptors(server.process.pid) > server.descriptors:
        if time.monotonic() - began > seconds:
            sys.exit(f"deploy/bench: {machine.descriptors(server.process.pid)} descriptors after {seconds} s,"
                     f" {server.descriptors} before")
        time.sleep(0.1)
    return time.monotonic() - began


# MARK: one connection for each request


def churn(server, options):
    found = {True: [], False: []}
    for turn in range(options.runs):
        progress(f"a connection for each request, turn {turn + 1}")
        for close in (False, True):
            found[close].append(bench.measured(
                lambda: bench.wrk("W1", server.port, options.connections, options.seconds, close=close), server.process.pid))
        wait_for_descriptors(server, 5)
    kept, closed = found[False], found[True]
    return {"requests": sum(run["requests"] for run in closed),
            "errors": sum(run["non_2xx"] + run["socket_errors"] for run in closed),
            "per_second": round(statistics.median(run["rps"] for run in closed)),
            "server_us": round(statistics.median(run["server_us"] for run in closed), 1),
            "keep_alive_server_us": round(statistics.median(run["server_us"] for run in kept), 1),
            "descriptors_more": machine.descriptors(server.process.pid) - server.descriptors}


# MARK: slow clients


class SlowSenders(threading.Thread):
    """Clients that send a byte of a header every half second, and connect anew when they are cut off."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.is_over = server, threading.Event()
        self.cut_off, self.statuses = 0, set()
        self.clients = [connect(server.port, number) for number in range(SLOW_SENDERS)]
        for client in self.clients:
            client.sendall(b"GET /api/v1/version HTTP/1.1\r\nHost: bench\r\nX: ")

    def run(self):
        with selectors.EpollSelector() as selector:
            for client in self.clients:
                selector.register(client, selectors.EVENT_READ)
            while not self.is_over.wait(0.5):
                for key, _ in selector.select(0):
                    selector.unregister(key.fileobj)
                    self.statuses.add(key.fileobj.recv(4096)[9:12].decode())
                    self.cut_off += 1
                    key.fileobj.close()
                    self.clients.remove(key.fileobj)
                for client in self.clients:
                    try:
                        client.sendall(b"a")
                    except OSError:
                        pass  # its answer is read in the next turn
                for _ in range(SLOW_SENDERS - len(self.clients)):
                    client = connect(self.server.port, self.cut_off)
                    client.sendall(b"GET /api/v1/version HTTP/1.1\r\nHost: bench\r\nX: ")
                    self.clients.append(client)
                    selector.register(client, selectors.EVENT_READ)

    def stop(self):
        self.is_over.set()
        self.join()
        for client in self.clients:
            client.close()


class SlowReaders(threading.Thread):
    """Clients that ask for many full pages at once and read 100 bytes a second of the answers, until they are cut off."""

    def __init__(self, server, targets):
        super().__init__(daemon=True)
        self.server, self.is_over = server, threading.Event()
        self.clients = []
        for number in range(SLOW_READERS):
            token, family, _ = targets[number % len(targets)].split()
            client = connect(server.port, number, receive_buffer=4096)
            client.sendall(PAGES * (f"GET /api/v1/sync/events?family_id={family} HTTP/1.1\r\nHost: bench\r\n"
                                    f"Authorization: Bearer {token}\r\n\r\n").encode())
            self.clients.append(client)

    def run(self):
        while not self.is_over.wait(1):
            for client in self.clients:
                try:
                    client.recv(100, socket.MSG_DONTWAIT)
                except OSError:
                    pass  # nothing has arrived, or it is cut off

    def stop(self):
        self.is_over.set()
        self.join()
        for client in self.clients:
            client.close()


def slow_senders(server, options):
    progress(f"{SLOW_SENDERS} clients that send slowly")
    without = [active(server, options.seconds) for _ in range(options.runs)]
    senders = SlowSenders(server)
    senders.start()
    began = time.monotonic()
    beside = [active(server, options.seconds) for _ in range(options.runs)]
    while senders.cut_off < SLOW_SENDERS and time.monotonic() - began < 30:
        time.sleep(0.1)
    elapsed = time.monotonic() - began
    senders.stop()
    wait_for_descriptors(server, 30)
    if senders.statuses != {"408"}:
        sys.exit(f"deploy/bench: slow senders were answered {sorted(senders.statuses)} instead of 408")
    return {"clients": SLOW_SENDERS, "p99_ratio": ratio(beside, without), "cut_off": senders.cut_off,
            "all_cut_off_after_s": round(elapsed, 1)}


def slow_readers(server, options, targets):
    progress(f"{SLOW_READERS} clients that read slowly")
    without = [active(server, options.seconds) for _ in range(options.runs)]
    before = machine.resident_bytes(server.process.pid)
    readers = SlowReaders(server, targets)
    readers.start()
    began = time.monotonic()
    time.sleep(5)  # until what they asked for is in the kernel's buffers
    waiting = machine.descriptors(server.process.pid) - server.descriptors
    beside = [active(server, options.seconds) for _ in range(options.runs)]
    used = machine.resident_bytes(server.process.pid) - before
    wait_for_descriptors(server, 90)
    elapsed = time.monotonic() - began
    readers.stop()
    return {"clients": SLOW_READERS, "waiting_after_5_s": waiting, "p99_ratio": ratio(beside, without),
            "memory_mb": round(used / (1 << 20), 1), "all_cut_off_after_s": round(elapsed, 1)}


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server ends with its block
    parser = argparse.ArgumentParser(prog="deploy/bench connections")
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--connections", type=int, default=64)
    options, _ = parser.parse_known_args()
    targets = (bench.DATA / "targets.txt").read_text().splitlines()
    with bench.nagz(bench.fresh_database(), "--audit-check", "off") as server:
        bench.wrk("W3", server.port, options.connections, 3, strict=True)
        time.sleep(1)  # until the connections of the warm-up are closed
        server.descriptors = machine.descriptors(server.process.pid)
        figures = {"idle": idle(server, options), "churn": churn(server, options),
                   "slow_senders": slow_senders(server, options), "slow_readers": slow_readers(server, options, targets)}
        figures["peak_mb"] = round(machine.peak_megabytes(server.process.pid))
    print(json.dumps(figures))


main()

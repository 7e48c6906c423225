#!/usr/bin/env python3
"""What the audit log costs and how fast it is checked: started by `deploy/bench --audit`, with the environment of bench.py.

1. The p50 of a write on one hot family, with its entry, its sealed body's bytes and its chain, beside the same without them.
2. Entries a second of `nagz audit verify`, on what the server writes under load and brings into the log.
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

import bench


def scripts(folder):
    """The durable write of W2 on one family, whole and without the audit log."""
    text = (bench.DATA / "w2.pgb").read_text()
    hot = re.sub(r"\\set f random\(0, \d+\)", r"\\set f 0", text)
    bare = re.sub(r", entry AS \(.*?\) SELECT seq, ts FROM ledger_stamp", " SELECT seq, ts FROM ledger_stamp", hot, flags=re.S)
    bare = re.sub(r", prev_head = c\.head, head = sha256\(.*?\) WHERE c\.family_id", " WHERE c.family_id", bare, flags=re.S)
    if "audit_" in bare or "sha256" in bare:
        sys.exit("deploy/bench: the write cannot be told from its audit log any more")
    for name, content in (("hot", hot), ("bare", bare)):
        (folder / f"{name}.pgb").write_text(content)
        yield folder / f"{name}.pgb"


def median_ms(script, database, folder, seconds):
    """The median latency of one transaction at a time, as pgbench logs them."""
    subprocess.run(
        [os.environ["BENCH_PG_BIN"] + "/pgbench", "-n", "-M", "prepared", "-c", "4", "-j", "2", "-T", str(seconds), "-l",
         "--log-prefix", str(folder / script.stem), "-f", str(script), database], check=True, capture_output=True,
        env=dict(os.environ, PGOPTIONS=(bench.DATA / "pgoptions.txt").read_text()))
    latencies = []
    for log in folder.glob(script.stem + ".[0-9]*"):
        latencies += [int(line.split()[2]) for line in log.read_text().splitlines()]
        log.unlink()
    return statistics.median(latencies) / 1e3


def overhead(folder, seconds, runs):
    whole, bare = scripts(folder)
    found = {whole: [], bare: []}
    # Each has a database of its own: what is written without an entry takes a number that the chain would miss.
    databases = {script: bench.fresh_database(f"bench_{script.stem}") for script in (bare, whole)}
    for _ in range(runs):
        for script, database in databases.items():
            found[script].append(median_ms(script, database, folder, seconds))
    # The quietest run of each: what else the machine does only adds.
    with_entry, without = min(found[whole]), min(found[bare])
    print(f"a write on a hot family, p50: {with_entry:.2f} ms with its entry, {without:.2f} ms without: "
          f"{(with_entry / without - 1) * 100:.0f} % more")
    return with_entry / without - 1


def wait_until_logged(port):
    """Until the log has all entries that were written."""
    size, last = -1, -2
    while size != last or size < 1:
        time.sleep(2)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        note = opener.open(f"http://127.0.0.1:{port}/api/v1/audit/log/checkpoint").read().decode()
        size, last = int(note.split("\n")[1]), size
    return size


def export_log(database, path):
    """Exports the log to a file; answers the key that verifies it."""
    # An export only reads, which the server's login may as well.
    environment = dict(os.environ, NAGZ_OWNER_DATABASE_URL=bench.database_url(database))
    nagz = os.environ["BENCH_PROGRAM"]
    subprocess.run([nagz, "audit", "export", "--output", path], check=True, env=environment, stdout=subprocess.DEVNULL)
    return subprocess.run([nagz, "audit", "keys"], check=True, env=environment, capture_output=True, text=True).stdout.split()[0]


def verify(path, key):
    """Entries a second."""
    said = subprocess.run([os.environ["BENCH_PROGRAM"], "audit", "verify", path, "--key", key], capture_output=True, text=True)
    if said.returncode:
        sys.exit(f"deploy/bench: the audit log does not verify: {said.stderr}")
    return int(re.search(r"(\d+) entries/s", said.stdout).group(1))


def verification(folder, seconds):
    # Acts of the server itself: the load scripts' entries are as long, and not what their hashes say.
    database = bench.fresh_database()
    with bench.nagz(database) as server:
        bench.wrk("W2", server.port, 64, 4 * seconds)
        size = wait_until_logged(server.port)
    export = folder / "export.ndjson"
    key = export_log(database, export)
    rates = [verify(export, key) for _ in range(3)]
    print(f"nagz audit verify: {max(rates):,} entries/s, {size:,} entries")
    return max(rates)


def main():
    parser = argparse.ArgumentParser(prog="deploy/bench --audit")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=bench.DATA) as folder:
        more = overhead(pathlib.Path(folder), options.seconds, options.runs)
        rate = verification(pathlib.Path(folder), options.seconds)
    sys.exit(0 if bench.check_bars({"audit": {"write_overhead": more, "verified_per_second": rate}}) else 1)


if __name__ == "__main__":
    main()

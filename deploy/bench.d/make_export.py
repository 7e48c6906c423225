#!/usr/bin/env python3
"""Writes a sound export of the audit trail of any length, to measure `nagz audit verify` with.

make_export.py ENTRIES FILE    prints the public key to pin
"""
import base64
import hashlib
import json
import os
import pathlib
import struct
import sys
import time
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Tests" / "AuditVerifier"))
import verify
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

ORIGIN, FAMILIES = "nagz.bench/log", 500


def main():
    count, path = int(sys.argv[1]), sys.argv[2]
    secret = Ed25519PrivateKey.from_private_bytes(bytes(32))
    octets = b"\x01" + secret.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    keyhash = hashlib.sha256(f"{ORIGIN}\n".encode() + octets).digest()[:4]
    key = f"{ORIGIN}+{keyhash.hex()}+{base64.b64encode(octets).decode()}"
    now = int(time.time())
    tree, nodes, levels = verify.Tree(), [], [[] for _ in range(8)]
    heads = [(0, hashlib.sha256(b"").digest())] * FAMILIES
    families = [str(uuid.UUID(int=(7 << 64) + f)) for f in range(FAMILIES)]
    with open(path, "w", encoding="utf-8") as out:
        line = lambda value: out.write(json.dumps(value, separators=(",", ":")) + "\n")
        line({"header": {"format": 1, "origin": ORIGIN, "family_id": None,
                         "made_at": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(now)),
                         "keys": [{"verifier": key, "handover": None}]}})
        for position in range(count):
            f = position % FAMILIES
            number, head = heads[f][0] + 1, heads[f][1]
            salt, words = os.urandom(32), [b"operation", b"select_tone", b"rule", b"tone.default", b"provider", b"heuristic"]
            body = b"".join(verify.field(word) for word in words)
            entry = {
                "family_id": families[f], "n": number, "at_us": (now - 86_400) * 1_000_000 + position,
                "kind": "ai.select_tone", "actor": str(uuid.uuid4()), "subject": str(uuid.uuid4()),
                "resource_id": str(uuid.uuid4()), "trace_id": str(uuid.uuid4()), "request_id": str(uuid.uuid4()),
                "commit": verify.sha256(b"\x02", salt, body).hex(), "prev": head.hex()}
            act = (verify.field(entry["kind"].encode()) + b"".join(
                verify.field(verify.identifier(entry[name]))
                for name in ("actor", "subject", "resource_id", "trace_id", "request_id"))
                + verify.field(bytes.fromhex(entry["commit"])))
            hashed = verify.sha256(
                b"\x01", head, verify.identifier(families[f]), struct.pack(">q", number),
                struct.pack(">q", entry["at_us"] - verify.SECONDS_TO_2000 * 1_000_000), act)
            entry |= {"hash": hashed.hex(), "position": position, "payload": "whole", "salt": salt.hex(),
                      "body": body.hex()}
            heads[f] = (number, hashed)
            line({"entry": entry})
            leaf = node = verify.leaf_hash(families[f], number, hashed)
            tree.add(leaf)
            level = 0
            while level < 7:
                levels[level].append(node)
                if len(levels[level]) < 256:
                    break
                part = verify.Tree()
                for one in levels[level]:
                    part.add(one)
                node, levels[level] = part.root(), []
                level += 1
                line({"node": {"level": level, "position": (position + 1) // 256**level - 1, "hash": node.hex()}})
        text = f"{ORIGIN}\n{count}\n{base64.b64encode(tree.root()).decode()}\ntime {now}\n"
        signature = base64.b64encode(keyhash + secret.sign(text.encode())).decode()
        line({"checkpoint": {"note": f"{text}\n— {ORIGIN} {signature}\n"}})
        line({"end": {"entries": count}})
    print(key)


if __name__ == "__main__":
    main()

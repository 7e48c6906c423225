#!/usr/bin/env python3
"""A second verifier of exports of the audit log, written from Sources/Audit/README.md alone: Python's standard library,
and `cryptography` for Ed25519. It shares no code with `nagz audit verify`, so that the two must agree.

verify.py FILE --key KEY [--witness FILE]     exits 0 sound, 1 tampered, 2 incomplete
"""
import argparse
import base64
import hashlib
import json
import struct
import sys
import uuid

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

ABSENT = b"\xff\xff\xff\xff"
SECONDS_TO_2000 = 946_684_800
EXPOSURE, LEAD, RETENTION, SILENCE = 5, 11 * 60, 1_098 * 86_400, 11 * 60  # seconds


class Tampered(Exception):
    pass


class Incomplete(Exception):
    pass


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


# MARK: keys and notes


class Key:
    """<name>+<hash>+<base64 of 0x01 and the public key>"""

    def __init__(self, text):
        self.text = text
        self.name, given, key = text.split("+", 2)
        bytes = base64.b64decode(key, validate=True)
        if bytes[0] != 1 or len(bytes) != 33:
            raise ValueError("not an Ed25519 key")
        self.hash = sha256(self.name.encode(), b"\n", bytes)[:4]
        if self.hash.hex() != given:
            raise ValueError("the hash is not the key's")
        self.public = Ed25519PublicKey.from_public_bytes(bytes[1:])

    def signed(self, note):
        for name, keyhash, signature in note.signatures:
            if name == self.name and keyhash == self.hash:
                try:
                    self.public.verify(signature, note.text.encode())
                    return True
                except InvalidSignature:
                    pass
        return False


class Note:
    def __init__(self, text):
        head, gap, tail = text.rpartition("\n\n")
        if not gap or not tail.endswith("\n"):
            raise ValueError("not a signed note")
        self.text = head + "\n"
        self.signatures = []
        for line in tail[:-1].split("\n"):
            dash, name, blob = line.split(" ")
            bytes = base64.b64decode(blob, validate=True)
            if dash != "—" or len(bytes) < 5:
                raise ValueError("not a signature")
            self.signatures.append((name, bytes[:4], bytes[4:]))


class Checkpoint:
    def __init__(self, text):
        origin, size, root, time, rest = text.split("\n")
        if rest or not size.isdecimal() or str(int(size)) != size or not time.startswith("time "):
            raise ValueError("not a checkpoint")
        self.origin, self.size, self.root, self.time = origin, int(size), base64.b64decode(root), int(time[5:])


def checkpoint(note, keys):
    """The checkpoint in a note one of the keys has signed under the log's name, or None."""
    try:
        found = Checkpoint(note.text)
    except ValueError:
        return None
    return found if any(key.name == found.origin and key.signed(note) for key in keys) else None


# MARK: the tree (RFC 6962)


class Tree:
    def __init__(self):
        self.size, self.stack = 0, []

    def add(self, leaf):
        node, rest = leaf, self.size
        while rest & 1:
            node = sha256(b"\x01", self.stack.pop(), node)
            rest >>= 1
        self.stack.append(node)
        self.size += 1

    def root(self):
        if not self.stack:
            return sha256(b"")
        node = self.stack[-1]
        for left in reversed(self.stack[:-1]):
            node = sha256(b"\x01", left, node)
        return node


def root_by_inclusion(leaf, index, size, path):
    """By recursion from the root, as section 2.1.1 defines the path; None when the path has another length."""

    def walk(low, high, depth):
        if high - low == 1:
            return leaf if depth == 0 else None
        if depth == 0:
            return None
        middle = low + (1 << ((high - low - 1).bit_length() - 1))
        if index < middle:
            left, right = walk(low, middle, depth - 1), path[depth - 1]
        else:
            left, right = path[depth - 1], walk(middle, high, depth - 1)
        return None if left is None or right is None else sha256(b"\x01", left, right)

    return walk(0, size, len(path)) if 0 <= index < size else None


def is_consistent(old, old_root, new, new_root, path):
    """By recursion, as section 2.1.2 defines the proof."""
    nodes = list(path)  # the recursion meets the last hash of the proof first

    def descend(low, high, size, whole):
        """The roots over (the old part, all) of low…high, of which the first `size` leaves are old."""
        if size == high - low:
            node = old_root if whole else nodes.pop()
            return node, node
        middle = 1 << ((high - low - 1).bit_length() - 1)
        other = nodes.pop()
        if size <= middle:
            part, left = descend(low, low + middle, size, whole)
            return part, sha256(b"\x01", left, other)
        part, right = descend(low + middle, high, size - middle, False)
        return sha256(b"\x01", other, part), sha256(b"\x01", other, right)

    try:
        part, everything = descend(0, new, old, True)
    except IndexError:
        return False
    return not nodes and part == old_root and everything == new_root


# MARK: entries


def field(value):
    return ABSENT if value is None else struct.pack(">I", len(value)) + value


def identifier(text):
    return None if text is None else uuid.UUID(text).bytes


def check_entry(entry, number, head, last_at):
    place = f"family {entry['family_id']}, entry {number}"
    if entry["n"] != number:
        raise Tampered(f"{place}: entry {entry['n']} follows where {number} belongs")
    if bytes.fromhex(entry["prev"]) != head:
        raise Tampered(f"{place}: the entry does not continue from the one before it")
    act = (field(entry["kind"].encode()) + field(identifier(entry["actor"])) + field(identifier(entry["subject"]))
           + field(identifier(entry["resource_id"])) + field(identifier(entry["trace_id"]))
           + field(identifier(entry["request_id"])) + field(bytes.fromhex(entry["commit"])))
    expected = sha256(
        b"\x01", head, identifier(entry["family_id"]), struct.pack(">q", number),
        struct.pack(">q", entry["at_us"] - SECONDS_TO_2000 * 1_000_000), act)
    if expected.hex() != entry["hash"]:
        raise Tampered(f"{place}: the entry was changed after it was written")
    if last_at is not None and entry["at_us"] <= last_at:
        raise Tampered(f"{place}: time goes backwards")
    if entry["payload"] == "whole":
        salt, body = bytes.fromhex(entry["salt"]), bytes.fromhex(entry["body"])
        if sha256(b"\x02", salt, body).hex() != entry["commit"]:
            raise Tampered(f"{place}: the body is not what the entry committed to")
    return expected


def leaf_hash(family, number, entry_hash):
    return sha256(b"\x00", identifier(family), struct.pack(">q", number), entry_hash)


class Chain:
    def __init__(self, cut=0, head=sha256(b"")):
        self.number, self.head, self.cut, self.cut_hash = cut, head, cut, head
        self.at = None
        self.placed, self.placed_hash, self.pending = cut, head, False
        self.missing, self.erasures = {}, set()
        self.clocked = False


class Verifier:
    def __init__(self, keys, witnesses):
        self.keys, self.witness_notes = keys, witnesses
        self.header, self.chains, self.tree = None, {}, Tree()
        self.nodes, self.levels = {}, [[] for _ in range(8)]
        self.newest, self.untrusted, self.ended, self.entries, self.unsigned = None, False, False, 0, 0
        self.with_clocks = False
        self.witnessed, self.shown, self.proven = {}, set(), set()

    @property
    def of_one(self):
        return self.header["family_id"]

    def line(self, line):
        for kind, value in line.items():
            if self.header is None and kind != "header":
                raise Incomplete("there is no header")
            getattr(self, "on_" + kind, lambda _: None)(value)

    def on_header(self, header):
        if header["format"] != 1:
            raise Incomplete("another format")
        self.header = header
        self.made = moment(header["made_at"])
        notes = [Note(key["handover"]) for key in header["keys"] if key["handover"]]
        while True:
            gained = [Key(note.text.split("\n")[1]) for note in notes
                      if note.text.startswith("nagz audit key\n") and any(key.signed(note) for key in self.keys)]
            fresh = [key for key in gained if key.name == self.keys[0].name and key.text not in [k.text for k in self.keys]]
            if not fresh:
                break
            self.keys += fresh[:1]
        for note in self.witness_notes:
            seen = checkpoint(note, self.keys)
            if seen is None:
                raise Tampered("a witness's checkpoint is not signed by a key you trust")
            if seen.origin != header["origin"]:
                raise Tampered("a witness saw another log")
            other = self.witnessed.setdefault(seen.size, seen)
            if other.root != seen.root:
                raise Tampered(f"two witnesses saw two logs of {seen.size} entries")

    def on_prune(self, value):
        note = Note(value["note"])
        lines = note.text.split("\n")
        if len(lines) != 8 or lines[0] != "nagz audit prune" or not any(key.signed(note) for key in self.keys):
            raise Tampered("a prune record is not signed by a key you trust")
        _, origin, family, cut, head, last, when, _ = lines
        if origin != self.header["origin"] or self.entries:
            raise Tampered("a prune record is of another log")
        if int(when) - int(last) < RETENTION:
            raise Tampered(f"family {family}, entry {cut}: entries were pruned before their time")
        self.chains[family] = Chain(int(cut), base64.b64decode(head))

    def on_entry(self, entry):
        family = entry["family_id"]
        if self.of_one not in (None, family):
            raise Tampered(f"family {self.of_one}, entry {entry['n']}: the entry belongs to another family")
        chain = self.chains.setdefault(family, Chain())
        number = chain.number + 1
        place = f"family {family}, entry {number}"
        chain.head = check_entry(entry, number, chain.head, chain.at)
        chain.number, chain.at = number, entry["at_us"]
        if entry["kind"] == "person.erased":
            chain.erasures.add(entry["subject"])
        if entry["payload"] != "whole":
            chain.missing.setdefault(entry["subject"] or entry["actor"], (number, entry["payload"]))
        if entry["position"] is None:
            chain.pending = True
            self.unsigned += 1
            if self.made - entry["at_us"] / 1e6 > EXPOSURE:
                raise Tampered(f"{place}: the entry was never added to the Merkle log")
        else:
            if chain.pending:
                raise Tampered(f"family {family}, entry {chain.placed + 1}: the entry was never added to the Merkle log")
            chain.placed, chain.placed_hash = number, chain.head
            if self.of_one is None:
                self.grow(leaf_hash(family, number, chain.head), entry["position"], place)
        self.entries += 1

    def on_leaf(self, leaf):
        place = f"family {leaf['family_id']}, entry {leaf['n']}"
        chain = self.chains.get(leaf["family_id"])
        if chain is None or leaf["n"] > chain.cut:
            raise Tampered(f"{place}: the Merkle log has the entry, the audit log does not")
        hashed = bytes.fromhex(leaf["hash"])
        if leaf["n"] == chain.cut and leaf_hash(leaf["family_id"], chain.cut, chain.cut_hash) != hashed:
            raise Tampered(f"{place}: the prune record does not fit the log")
        self.grow(hashed, leaf["position"], place)

    def grow(self, leaf, position, place):
        if position != self.tree.size:
            raise Tampered(f"{place}: it stands where log position {self.tree.size} belongs")
        self.tree.add(leaf)
        level, node = 0, leaf
        while level < 7:
            self.levels[level].append(node)
            if len(self.levels[level]) < 256:
                break
            part = Tree()
            for one in self.levels[level]:
                part.add(one)
            node, self.levels[level] = part.root(), []
            level += 1
            self.nodes[level, (position + 1) // 256**level - 1] = node
        self.compare(self.tree.size, self.tree.root)

    def compare(self, size, root):
        if size in self.witnessed:
            if self.witnessed[size].root != root():
                raise Tampered(f"a witness saw another log of {size} entries")
            self.shown.add(size)

    def on_node(self, node):
        if self.nodes.pop((node["level"], node["position"]), None) != bytes.fromhex(node["hash"]):
            raise Tampered(f"a hash that the log keeps on level {node['level']} is not that of its leaves")

    def on_checkpoint(self, value):
        found = checkpoint(Note(value["note"]), self.keys)
        self.untrusted = found is None
        if found is None:
            return
        if found.origin != self.header["origin"]:
            raise Tampered("the checkpoint comes from another log")
        if self.newest and (found.time < self.newest.time or found.size < self.newest.size):
            raise Tampered("a later checkpoint claims an earlier time")
        if self.of_one is None and (found.size != self.tree.size or found.root != self.tree.root()):
            raise Tampered(f"the first {found.size} entries of the log are not the signed ones")
        self.compare(found.size, lambda: found.root)
        self.newest = found

    def on_inclusion(self, proof):
        family, number, leaf = proof["family_id"], proof["n"], bytes.fromhex(proof["hash"])
        place = f"family {family}, entry {number}"
        root = root_by_inclusion(leaf, proof["position"], proof["size"], [bytes.fromhex(node) for node in proof["path"]])
        if self.newest is None or self.newest.size != proof["size"] or root != self.newest.root:
            raise Tampered(f"{place}: the proof that the entry is in the log does not hold")
        chain = self.chains.get(family, Chain())
        if number > chain.placed:
            raise Tampered(f"family {family}, entry {chain.placed + 1}: the Merkle log has the entry, the audit log does not")
        if number != chain.placed or leaf_hash(family, number, chain.placed_hash) != leaf:
            raise Tampered(f"{place}: the entry differs from the one in the Merkle log")
        self.proven.add(family)

    def on_consistency(self, proof):
        seen = self.witnessed.get(proof["old"])
        if seen is None or self.newest is None or self.newest.size != proof["new"]:
            return
        path = [bytes.fromhex(node) for node in proof["path"]]
        if not is_consistent(seen.size, seen.root, self.newest.size, self.newest.root, path):
            raise Tampered(f"the log of {seen.size} entries a witness saw is not the beginning of this one")
        self.shown.add(seen.size)

    def on_clock(self, clock):
        chain = self.chains.get(clock["family_id"], Chain())
        if clock["n"] != chain.number or bytes.fromhex(clock["head"]) != chain.head:
            raise Tampered(f"family {clock['family_id']}: the clock stands at {clock['n']}, the chain ends at {chain.number}"
                           " or with another hash")
        chain.clocked = True

    def on_end(self, end):
        self.ended = end["entries"] <= self.entries
        self.with_clocks = end.get("clocks") is not None

    def finish(self):
        if self.header is None:
            raise Incomplete("there is no header")
        for family, chain in sorted(self.chains.items()):
            for person, (number, payload) in sorted(chain.missing.items(), key=lambda item: item[1]):
                if person not in chain.erasures:
                    raise Tampered(f"family {family}, entry {number}: the body is {payload} and no record says why")
        if not self.ended:
            raise Incomplete("the export is truncated")
        if self.untrusted:
            raise Tampered("the checkpoint is not signed by a key you trust")
        for family, chain in sorted(self.chains.items()):
            if self.with_clocks and not chain.clocked:
                raise Tampered(f"family {family}: there are entries of a family that has no clock")
        if self.newest is None:
            raise Incomplete("there is no checkpoint")
        if self.of_one is None and self.tree.size != self.newest.size:
            raise Tampered("the log has entries after its newest checkpoint")
        if self.nodes:
            raise Incomplete("hashes that the log must keep are missing")
        highest = max(self.witnessed.values(), key=lambda seen: seen.size, default=None)
        if highest and highest.size > self.newest.size:
            if highest.time <= self.newest.time:
                raise Tampered(f"a witness saw {highest.size} entries, here are {self.newest.size}")
            raise Incomplete("a witness saw a later log")
        if any(size not in self.shown for size in self.witnessed if size > 0):
            raise Incomplete("nothing shows that the log a witness saw is the beginning of this one")
        family = self.of_one
        if family and self.chains.get(family, Chain()).placed and family not in self.proven:
            raise Incomplete("the family's newest entry is not proven to be in the log")
        if self.entries and self.entries == self.unsigned:
            raise Incomplete("no signature covers the entries yet")
        if self.made - self.newest.time > SILENCE:
            raise Incomplete("the newest checkpoint is too old")


def moment(text):
    from datetime import datetime
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def witnesses(paths):
    for path in paths:
        text = open(path, encoding="utf-8").read()
        if text.startswith("{"):
            yield from (Note(json.loads(line)["note"]) for line in text.splitlines())
        else:
            yield Note(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--key", action="append", required=True)
    parser.add_argument("--witness", action="append", default=[])
    options = parser.parse_args()
    verifier = Verifier([Key(text) for text in options.key], list(witnesses(options.witness)))
    try:
        with open(options.file, encoding="utf-8") as lines:
            for number, text in enumerate(lines, 1):
                try:
                    line = json.loads(text)
                except ValueError:
                    raise Incomplete(f"line {number} is not a line of an export") from None
                verifier.line(line)
        verifier.finish()
    except Tampered as finding:
        print(f"TAMPERED: {finding}")
        return 1
    except (Incomplete, ValueError, KeyError) as reason:
        print(f"INCOMPLETE: {reason}")
        return 2
    signed = verifier.entries - verifier.unsigned
    print(f"SOUND: {signed} {'entry' if signed == 1 else 'entries'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

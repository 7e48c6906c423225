"""Refuses migrations that the previous release cannot live with: migrations.py FOLDER [--first N].

The servers of the previous release go on while a migration is applied and until they are restarted. So what they use stays, and
what they write is still accepted. Each migration from N on is applied to a database, and the catalog is compared with the one
before. What is refused may be done when no release that is running uses it any more; then the migration says so in a line

    -- contract: OBJECT: not used since 0.2.0 …

and where a table is locked while all of it is read or written, although it has few rows, in a line

    -- lock: OBJECT: why this is short …

with OBJECT as this script names it. A line that allows nothing is refused too. New triggers may do anything: whether the previous
release can live with them, only Tests/System/upgrade tells. Connects as psql does (PGHOST, PGDATABASE, …).
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
from typing import NamedTuple

FIRST = 53  # the oldest migration that is held to this

ALLOWANCE = re.compile(r"^\s*-- (contract|lock): (.+?): (.+)$", re.MULTILINE)
RELEASE = re.compile(r"\b\d+\.\d+\.\d+\b")
LIST = re.compile(r"ARRAY\[(.*?)\]")

# The catalog as one JSON object: for each kind of object, what is known of each by its name.
CATALOG = """
WITH relation AS (
    SELECT oid, relname::text AS name, relkind, relfilenode, relacl, relowner, relrowsecurity
    FROM pg_class WHERE relnamespace = 'public'::regnamespace
), tables AS (SELECT * FROM relation WHERE relkind IN ('r', 'p', 'v', 'm', 'S')
), named_column AS (
    SELECT t.oid, a.attnum, t.name || '.' || a.attname AS name, a.*
    FROM pg_attribute a JOIN tables t ON t.oid = a.attrelid AND t.relkind <> 'S' WHERE a.attnum > 0 AND NOT a.attisdropped
), privilege AS (
    SELECT name AS object, x.* FROM tables, aclexplode(relacl) x
    UNION ALL SELECT name, x.* FROM named_column, aclexplode(attacl) x
    UNION ALL SELECT p.oid::regprocedure::text, x.* FROM pg_proc p, aclexplode(coalesce(proacl, acldefault('f', proowner))) x
    WHERE p.pronamespace = 'public'::regnamespace
)
SELECT json_build_object(
    'table', (SELECT json_object_agg(name, json_build_object('rows', relfilenode, 'policies', relrowsecurity)) FROM tables),
    'column', (SELECT json_object_agg(name, json_build_object(
        'type', format_type(atttypid, atttypmod), 'required', attnotnull,
        'default', atthasdef OR attidentity <> '')) FROM named_column),
    'constraint', (SELECT json_object_agg(r.name || '.' || k.conname, json_build_object(
        'table', r.name, 'kind', k.contype, 'text', replace(pg_get_constraintdef(k.oid), ' NOT VALID', ''), 'scans', k.convalidated,
        'columns', (SELECT json_agg(r.name || '.' || a.attname) FROM pg_attribute a WHERE a.attrelid = r.oid AND a.attnum = ANY (k.conkey))))
        FROM pg_constraint k JOIN relation r ON r.oid = k.conrelid),
    'index', (SELECT json_object_agg(i.indexrelid::regclass::text, json_build_object(
        'table', r.name, 'unique', i.indisunique, 'text', pg_get_indexdef(i.indexrelid),
        'columns', (SELECT json_agg(r.name || '.' || a.attname) FROM pg_attribute a WHERE a.attrelid = r.oid AND a.attnum = ANY (i.indkey))))
        FROM pg_index i JOIN relation r ON r.oid = i.indrelid),
    'function', (SELECT json_object_agg(p.oid::regprocedure::text, json_build_object('result', pg_get_function_result(p.oid)))
        FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace),
    'trigger', (SELECT json_object_agg(r.name || '.' || t.tgname, '{}'::json)
        FROM pg_trigger t JOIN relation r ON r.oid = t.tgrelid WHERE NOT t.tgisinternal),
    'policy', (SELECT json_object_agg(r.name || '.' || o.polname, json_build_object('table', r.name))
        FROM pg_policy o JOIN relation r ON r.oid = o.polrelid),
    'type', (SELECT json_object_agg(t.oid::regtype::text, '{}'::json)
        FROM pg_type t WHERE t.typnamespace = 'public'::regnamespace AND t.typtype IN ('e', 'd')),
    'privilege', (SELECT json_object_agg(privilege_type || ' on ' || object || ' of '
            || CASE WHEN grantee = 0 THEN 'everybody' ELSE grantee::regrole::text END, json_build_object('object', object))
        FROM privilege))
"""


class Finding(NamedTuple):
    kind: str  # of the line that allows it: contract or lock
    object: str
    reason: str


def compare(before, after):
    """What the change from one catalog to the other does that servers of the previous release cannot live with."""
    gone = {kind: before[kind].keys() - after[kind].keys() for kind in before}
    new = {kind: after[kind].keys() - before[kind].keys() for kind in before}
    kept = {kind: before[kind].keys() & after[kind].keys() for kind in before}
    fresh = new["column"] | {name for name in after["column"] if name.rpartition(".")[0] in new["table"]}

    for kind in ("table", "column", "function", "trigger", "policy", "type", "index"):
        for name in gone[kind]:
            parent = name.rpartition(".")[0] if kind in ("column", "trigger", "policy") else before[kind][name].get("table")
            if parent in gone["table"]:
                continue
            yield Finding("contract", name, f"the {kind} is gone or renamed")
    for name in gone["privilege"]:
        of = before["privilege"][name]["object"]
        if any(of in after[kind] for kind in ("table", "column", "function")):
            yield Finding("contract", name, "the privilege is gone")
    for name in kept["table"]:
        if after["table"][name]["policies"] and not before["table"][name]["policies"]:
            yield Finding("contract", name, "its rows have policies from now on")
        if before["table"][name]["rows"] != after["table"][name]["rows"]:
            yield Finding("lock", name, "all of the table is written again, and nobody can read it meanwhile")
    yield from columns(before["column"], after["column"], kept["column"], new["column"], kept["table"])
    for name in kept["function"]:
        if before["function"][name] != after["function"][name]:
            yield Finding("contract", name, "the function has another result")
    for name in new["policy"]:
        if after["policy"][name]["table"] in kept["table"]:
            yield Finding("contract", name, "the policy is new")
    yield from constraints(before, after, kept, fresh)


def columns(before, after, kept, new, tables):
    for name in kept:
        if before[name]["type"] != after[name]["type"]:
            yield Finding("contract", name, f"the type was {before[name]['type']}")
        if after[name]["required"] and not before[name]["required"]:
            yield Finding("contract", name, "it must not be null any more")
        if before[name]["default"] and not after[name]["default"]:
            yield Finding("contract", name, "the default is gone")
    for name in new:
        if name.rpartition(".")[0] in tables and after[name]["required"] and not after[name]["default"]:
            yield Finding("contract", name, "the new column must not be null and has no default")


def constraints(before, after, kept, fresh):
    made_by_constraint = {name.rpartition(".")[2] for name in after["constraint"]}
    for name, found in after["constraint"].items():
        old = before["constraint"].get(name)
        if found["table"] not in kept["table"] or old and old["text"] == found["text"]:
            continue
        if found["scans"] and found["kind"] in "cf":
            yield Finding("lock", name, "all rows are read while nobody can write: add it NOT VALID")
        if not set(found["columns"] or ["nothing"]) <= fresh and not (old and is_wider(old["text"], found["text"])):
            yield Finding("contract", name, "the constraint may refuse what was accepted")
    for name, found in after["index"].items():
        old = before["index"].get(name)
        if found["table"] not in kept["table"] or old and old["text"] == found["text"]:
            continue
        yield Finding("lock", name, "nobody can write the table while the index is made")
        # Servers of the previous release leave such a column null, and nulls are not equal.
        left_null = any(is_left_null(after["column"][each]) for each in fresh.intersection(found["columns"] or []))
        if found["unique"] and not left_null and name not in made_by_constraint:
            yield Finding("contract", name, "the unique index may refuse what was accepted")
        if old:
            yield Finding("contract", name, "the index is another one")


def is_left_null(column):
    return not column["required"] and not column["default"]


def is_wider(old, new):
    """Whether one list of values has grown, and nothing else is different."""
    if LIST.sub("", old) != LIST.sub("", new):
        return False
    return all(set(was.split(", ")) <= set(now.split(", ")) for was, now in zip(LIST.findall(old), LIST.findall(new)))


def judge(before, after, sql):
    """One sentence for each finding that no line of the migration allows, and for each line that allows none."""
    allowances = {(kind, what): reason for kind, what, reason in ALLOWANCE.findall(sql)}
    for finding in sorted(set(compare(before, after))):
        reason = allowances.pop((finding.kind, finding.object), None)
        if reason is None:
            yield f"{finding.object}: {finding.reason} (-- {finding.kind}: {finding.object}: …)"
        elif finding.kind == "contract" and not RELEASE.search(reason):
            yield f"{finding.object}: the line names no release that stopped using it"
    for kind, what in allowances:
        yield f"{what}: nothing to allow with “-- {kind}:”"


def apply(sql, prepare="", end="COMMIT"):
    """The catalog before and after these statements, which run in one transaction."""
    script = f"BEGIN;\n{prepare}\n{CATALOG};\n\\o /dev/null\n{sql}\n;\\o\n{CATALOG};\n{end};\n"
    done = subprocess.run(
        ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"], input=script, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"psql: {done.stderr.strip()}")
    catalogs = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return [{kind: objects or {} for kind, objects in catalog.items()} for catalog in catalogs]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--first", type=int, default=FIRST)
    arguments = parser.parse_args()
    apply("CREATE TABLE schema_migrations "
          "(number integer PRIMARY KEY, name text NOT NULL, checksum bytea NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())")
    refused = checked = 0
    for file in sorted(arguments.folder.glob("*.sql")):
        sql = file.read_text()
        before, after = apply(sql)
        if int(file.name.partition("_")[0]) >= arguments.first:
            checked += 1
            for complaint in judge(before, after, sql):
                refused += 1
                print(f"{file.name}: {complaint}")
    print(f"{checked} migrations from {arguments.first:04d} on: {refused} things that the previous release cannot live with")
    sys.exit(refused > 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""A second policy engine and router, written from the specification alone, with Python's standard library. It shares no
code with Sources/NagzAI, so that the two must agree.

verify.py FILE     answers every case in FILE by itself; exits 0 if all answers are those in the file, 1 if not

FILE has one JSON object a line: {"constraints", "question", "state", "answer"}, as the API writes them. Its first line is
{"prototypes"}: what characters look like by UTS 39, for those in the file. Python has no such data, nor Debian a package of
them. Default-ignorable characters are those of Debian's unicode-data.
"""
import json
import sys
import unicodedata

# Strongest first.
STRENGTH = ["block", "force_local", "force_cloud", "require_confirmation", "warn"]
IGNORED_FORCE_CLOUD = "A constraint asked for cloud execution, but this question stays local"


# MARK: policy


PROTOTYPES = {}


def ignorable():
    """The default-ignorable characters."""
    found = set()
    with open("/usr/share/unicode/DerivedCoreProperties.txt", encoding="utf-8") as file:
        for line in file:
            points, _, name = line.partition("#")[0].partition(";")
            if name.strip() == "Default_Ignorable_Code_Point":
                first, _, last = points.strip().partition("..")
                found.update(chr(point) for point in range(int(first, 16), int(last or first, 16) + 1))
    return found


IGNORABLE = ignorable()


def folded(text):
    """NFKC and full case folding without ignorable characters, until nothing changes; each run of white space as a blank."""
    while True:
        seen = "".join(c for c in text if c not in IGNORABLE)
        mapped = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", unicodedata.normalize("NFD", seen).casefold()))
        if mapped == text:
            return " ".join(part for part in "".join(" " if c in WHITE_SPACE else c for c in text).split(" ") if part)
        text = mapped


def skeleton(text):
    """What the text looks like."""
    shown = "".join(PROTOTYPES.get(c, c) for c in unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFD", shown)


def compared(left, right, relation):
    """Whether the relation holds between two texts as they are or, where one is not ASCII, as they look."""
    left, right = folded(left), folded(right)
    if relation(left, right):
        return True
    return not (left.isascii() and right.isascii()) and relation(skeleton(left), skeleton(right))


WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"


def holds(condition, question):
    field, operator, value = condition["field"], condition["operator"], condition["value"]
    if field == "content":
        content = question["content"]
        if operator in ("contains", "notContains"):
            parts = [part.strip(WHITE_SPACE) for part in value.split("|")]
            found = any(compared(part, content, lambda part, text: part in text) for part in parts)
            return found == (operator == "contains")
        return compared(content, value, lambda left, right: left == right) == (operator == "equals")
    if field == "token_count":
        count, limit = question["token_count"], int(value)
        return {
            "exceeds": count > limit,
            "lessThan": count < limit,
            "equals": count == limit,
            "notEquals": count != limit,
        }[operator]
    # A question without an intent equals none.
    return (question[field] == value) == (operator == "equals")


def evaluate(constraints, question):
    enabled = sorted((c for c in constraints if c["enabled"]), key=lambda c: (c["priority"], c["id"].lower()))
    matching = [c for c in enabled if all(holds(condition, question) for condition in c["conditions"])]
    kinds = [c["action"]["type"] for c in matching]
    blocks = [c for c in matching if c["action"]["type"] == "block"]
    prompts = [c["action"]["prompt"] for c in matching if c["action"]["type"] == "require_confirmation"]
    applied = matching[: matching.index(blocks[0]) + 1] if blocks else matching
    return {
        "allowed": not blocks,
        "effective_action": min(kinds, key=STRENGTH.index) if kinds else None,
        "evaluated": [c["id"] for c in enabled],
        "applied": [c["id"] for c in applied],
        "warnings": [c["action"]["message"] for c in matching if c["action"]["type"] == "warn"],
        "confirmation": "\n\n".join(prompts) if prompts and not blocks else None,
        "violation": {"constraint_id": blocks[0]["id"], "reason": blocks[0]["action"]["reason"]} if blocks else None,
    }


# MARK: router


class Failure(Exception):
    def __init__(self, code, rule=None):
        super().__init__(code)
        self.code, self.rule = code, rule


def local_provider(state):
    """The operating system's model, then the device's gateway, then the rules: where mode and device have them."""
    model, mode = state["local"]["model"], state["mode"]
    if model and model["of_system"] and mode in ("auto", "on_device_only"):
        return "foundation_models", "local_llm", model["name"]
    if model and not model["of_system"] and mode in ("auto", "local_only"):
        return "local_model", "local_llm", model["name"]
    return "heuristic", "heuristic", None


def cloud_provider(state):
    """The person's own provider, then the server's gateway, then the server's rules."""
    mode = state["mode"]
    if mode in ("auto", "byo_only") and state["byo_model"] is not None and state["third_party_allowed"]:
        return "byo", "cloud_llm", state["byo_model"]
    if mode == "auto" and state["gateway_model"] is not None:
        return "server_gateway", "local_llm", state["gateway_model"]
    return "heuristic", "heuristic", None


def route(question, state, policy):
    mode, level, action = state["mode"], question["privacy_level"], policy["effective_action"]
    warnings = list(policy["warnings"])

    def decision(place, provider, rule, fallback=False):
        name, task, model = provider
        return {
            "route": place,
            "task_type": task,
            "provider": name,
            "model": model,
            "rule_id": rule,
            "fallback_allowed": fallback,
            "confidence": 1,
            "warnings": warnings,
        }

    def local(rule, fallback=False):
        if mode == "byo_only":
            raise Failure("E-LOCAL-001")
        # The mode promises the system's own model, and nothing in its place.
        if mode == "on_device_only" and not (state["local"]["model"] and state["local"]["model"]["of_system"]):
            raise Failure("E-LOCAL-001")
        return decision("local", local_provider(state), rule, fallback)

    def cloud(rule):
        if mode in ("on_device_only", "local_only"):
            raise Failure("E-LOCAL-001")
        if mode == "byo_only":
            if state["byo_model"] is None:
                raise Failure("E-CLOUD-001")
            if not state["third_party_allowed"]:
                raise Failure("E-POLICY-001")
        if state["network"] != "online":
            raise Failure("E-NET-001", "NETWORK_UNAVAILABLE")
        return decision("cloud", cloud_provider(state), rule)

    if mode == "off":
        raise Failure(None)
    if not policy["allowed"]:
        raise Failure("E-POLICY-001", "POLICY_BLOCK")
    if level == "local" or question["require_offline"]:
        if action == "force_cloud":
            warnings.append(IGNORED_FORCE_CLOUD)
        return local("PRIVACY_LOCAL")
    if action == "force_local":
        return local("POLICY_FORCE_LOCAL")
    if action == "force_cloud":
        return cloud("POLICY_FORCE_CLOUD")
    if level == "cloud":
        return cloud("PRIVACY_CLOUD")
    here, tokens, intent = state["local"], question["token_count"], question["intent"]
    fits = tokens <= state["token_threshold"] and tokens <= here["max_tokens"]
    if mode != "byo_only" and fits and here["available"] and (intent is None or intent in here["intents"]):
        return local("AUTO_LOCAL", mode in ("auto", "heuristic"))
    return cloud("AUTO_CLOUD")


def answer(case):
    question = case["question"]
    if question["token_count"] is None:
        question["token_count"] = (len(question["content"].encode()) + 3) // 4
    policy = evaluate(case["constraints"], case["question"])
    try:
        return {"policy": policy, "decision": route(case["question"], case["state"], policy), "failure": None}
    except Failure as failure:
        return {"policy": policy, "decision": None, "failure": {"error_code": failure.code, "rule_id": failure.rule}}


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: verify.py FILE")
    count = wrong = blocked = failed = 0
    with open(sys.argv[1], encoding="utf-8") as file:
        PROTOTYPES.update(json.loads(next(file))["prototypes"])
        for line in file:
            case = json.loads(line)
            ours, theirs = answer(case), case["answer"]
            # Texts, time and trace are not the router's decision.
            del theirs["explanation"]
            if theirs["decision"]:
                for name in ("at", "trace_id", "reason"):
                    del theirs["decision"][name]
            count += 1
            blocked += not ours["policy"]["allowed"]
            failed += ours["failure"] is not None
            if ours != theirs:
                wrong += 1
                if wrong <= 5:
                    print(f"error: line {count}: verify.py says {ours}, the file says {theirs}")
    if count == 0:
        sys.exit("error: there are no cases")
    print(f"{count} cases ({blocked} blocked, {failed} without a route), {wrong} disagreements")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

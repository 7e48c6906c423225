"""A service with language models that answers as its path says: /model/WORD/… to every question, and /model/list-WORD/… to the
question for its models. It has the shapes of OpenAI's and of Anthropic's protocol.

Where a prompt has the rules' text, the answer is that text with thanks, and of an excuse what the child says: words that the check of
a model's text lets through. The answer to WORD = say-TEXT is TEXT, in URL-safe base64. A question to WORD = hold-NAME is answered after a request for
/model/release-NAME/; one for /model/arrived-NAME/ is answered once such a question is there.
"""
import asyncio
import base64
import collections
import json
import re

from email.utils import formatdate
import time

MODEL = "test-model"
TEXT = "  Start with one small step.\n"
arrived = collections.defaultdict(asyncio.Event)
released = collections.defaultdict(asyncio.Event)
FIELDS = {"recipient": "the child", "category": "chores", "description": "Bins"}


def completion(text, reason):
    return {"id": "1", "model": "whatever was asked for", "choices": [{"index": 0, "finish_reason": reason, "message": {
        "role": "assistant", "content": text}}], "usage": {"prompt_tokens": 40, "completion_tokens": 2, "total_tokens": 42}}


def message(text, reason):
    return {"type": "message", "model": "whatever was asked for", "content": [
        {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}], "stop_reason": reason,
        "usage": {"input_tokens": 40, "output_tokens": 2}}


def reworded(body):
    """What an obedient model says: the rules' text again, with a courtesy."""
    prompt = body["messages"][-1]["content"] if body else ""
    for line in prompt.splitlines():
        name, _, text = line.partition(": ")
        if name in ("Reason", "Tip", "Reminder", "Text", "Answer"):
            return text + " Thank you."
        if name == "The child's words":
            words = re.sub(r"\bI\b", "they", text[1:-1])
            return f"The child says {words}."
    return TEXT


async def serve(method, path, body, send, answer):
    _, _, word, *rest = path.split("/")
    is_list = method == "GET" and path.endswith("/models")
    if is_list != word.startswith("list-"):
        word = "good"
    word = word.removeprefix("list-")
    is_anthropic = path.endswith("/messages")
    form = message if is_anthropic else completion

    async def document(status, value, headers=()):
        await answer(send, status, json.dumps(value).encode(), list(headers))

    name = word.partition("-")[2]
    if word.startswith("hold-"):
        arrived[name].set()
        await released[name].wait()
    elif word.startswith("arrived-"):
        await arrived[name].wait()
    elif word.startswith("release-"):
        released[name].set()
    request = body or {}
    if word.startswith("refuses-"):
        # Current models that think refuse a temperature, and the older name of the field for tokens.
        refused = [field for field in name.split("-") if field in request]
        if refused and refused[0] == "max_tokens":
            return await document(400, {"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model."
                                                  " Use 'max_completion_tokens' instead.", "param": "max_tokens"}})
        if refused:
            text = "Unsupported value: 'temperature' does not support 0.5 with this model."
            return await document(400, {"error": {"message": text} | ({} if is_anthropic else {"param": refused[0]})})
        word = "good"
    elif word == "thinks" and not is_list:
        if max(request.get("max_tokens", 0), request.get("max_completion_tokens", 0)) < 1000:
            if is_anthropic:
                return await document(200, {"content": [{"type": "thinking", "thinking": "hm"}], "stop_reason": "max_tokens"})
            return await document(200, completion("", "length") | {"usage": {
                "completion_tokens_details": {"reasoning_tokens": 160}}})
    if word == "parts":
        return await document(200, completion([{"type": "text", "text": " Start with"}, {"type": "reasoning", "text": "hm"},
                                               {"type": "text", "text": " one small step."}], "stop"))
    if word == "declines":
        answered = completion("", "stop")
        answered["choices"][0]["message"]["refusal"] = "I cannot help with that."
        return await document(200, answered)
    if word == "date":
        return await document(429, {}, [(b"date", formatdate(time.time(), usegmt=True).encode()),
                                        (b"retry-after", formatdate(time.time() + 40, usegmt=True).encode())])
    if word.isdigit():
        # Bodies of errors differ between services.
        await document(int(word), {"detail": "no"}, [(b"retry-after", b"17")])
    elif word == "context":
        await document(400, {"error": {"message": "too long", "type": "invalid_request_error", "code": "context_length_exceeded"}})
    elif word == "slow":
        await asyncio.sleep(600)
    elif word == "cut":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1000")]})
        await send({"type": "http.response.body", "body": b'{"choices":[', "more_body": True})
        raise ConnectionError("cut")
    elif word == "garbage":
        await answer(send, 200, b"<html>hello</html>")
    elif word == "huge":
        await document(200, form("a" * (256 << 10), "end_turn" if is_anthropic else "stop"))
    elif word == "redirect":
        await answer(send, 307, b"", [(b"location", path.replace("redirect", "good").encode())])
    elif is_list and word == "latest":
        await document(200, {"data": [{"id": MODEL + ":latest"}]})
    elif is_list:
        await document(200, {"data": [{"id": "another"}] + ([{"id": MODEL}] if word != "without" else [])})
    elif word == "empty":
        await document(200, form(" \n", "end_turn" if is_anthropic else "stop"))
    elif word == "nothing":
        await document(200, {"choices": [], "content": []})
    elif word.startswith("reason-"):
        reason = word.removeprefix("reason-")
        await document(200, form("half a sent", None if reason == "null" else reason))
    elif word.startswith("fields"):
        fields = {"fields": FIELDS, "fields-role": FIELDS | {"role": "admin"}, "fields-number": FIELDS | {"description": 4},
                  "fields-choice": FIELDS | {"recipient": "everybody"}, "fields-array": [FIELDS]}[word]
        await document(200, form(json.dumps(fields), "stop"))
    elif word.startswith("say-"):
        await document(200, form(base64.urlsafe_b64decode(name + "==").decode(), "end_turn" if is_anthropic else "stop"))
    elif word == "usage":
        await document(200, form(TEXT, "stop") | {"usage": {"prompt_tokens": -1, "completion_tokens": 2**63 - 1}})
    else:
        await document(200, form(reworded(body), "end_turn" if is_anthropic else "stop"))

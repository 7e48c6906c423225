"""A file that always has the same content, served as the path says: /file/WORD/NAME.

  range    answers ranges            whole     ignores them
  cut      as range, but the connection ends in the middle of the first answer
  cutwhole the same, and ignores ranges
  hold     as range, but the first answer stops in the middle and the connection stays
  wrong    another last byte         short, more, endless   another size
  total    says another size         none      says another size, and sends nothing
  shifted   answers another range than was asked for
  redirect, and a number for a status
"""
import asyncio
import re

begun = set()


def content(count):
    return bytes((index * 31 + (index >> 8)) & 0xFF for index in range(count))


async def serve(path, headers, send):
    word = path.split("/")[2]
    count = 300_000
    asked = re.fullmatch(r"bytes=(\d+)-(\d+)", headers.get("range", ""))
    first, last = (int(asked[1]), min(int(asked[2]), count - 1)) if asked else (0, count - 1)
    is_first = path not in begun
    begun.add(path)
    body, status, fields = content(count), 200, []
    if word == "wrong":
        body = body[:-1] + bytes([body[-1] ^ 1])
    if word == "short":
        body = body[:-10]
    if word == "more":
        body += b"x" * 10
    if word == "redirect":
        body, status, fields = b"", 302, [(b"location", b"/hello")]
    elif word.isdigit():
        body, status = b"no", int(word)
    elif word not in ("whole", "cutwhole", "short", "more", "endless") and asked:
        status = 206
        total = count + 5 if word in ("total", "none") else count
        if word == "shifted":
            first, last = 0, last - first
        body = body[first:last + 1]
        fields = [(b"content-range", f"bytes {first}-{last}/{total}".encode())]
        if word == "none":
            body = b""
    if word != "endless":
        fields = fields + [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": fields})
    if word in ("cut", "cutwhole", "hold") and is_first:
        await send({"type": "http.response.body", "body": body[:len(body) // 2], "more_body": True})
        if word == "hold":
            await asyncio.Event().wait()
        await asyncio.sleep(0.1)
        raise ConnectionError("cut")
    while word == "endless":
        await send({"type": "http.response.body", "body": body, "more_body": True})
    await send({"type": "http.response.body", "body": body})

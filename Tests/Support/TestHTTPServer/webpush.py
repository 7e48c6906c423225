"""A push service and a browser in one: it checks a message's token (RFC 8292) and decrypts its body (RFC 8188 and 8291) with the
package cryptography.
"""
import base64
import json
import os
import re

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

key = ec.generate_private_key(ec.SECP256R1())
auth = os.urandom(16)


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encoded(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def point(public_key):
    return public_key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def subscription():
    """The keys as a browser gives them."""
    return {"p256dh": encoded(point(key.public_key())), "auth": encoded(auth)}


def derived(secret, salt, info, length):
    return HKDF(hashes.SHA256(), length, salt, info).derive(secret)


def decrypted(body):
    salt, size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
    sender, record = body[21:21 + length], body[21 + length:]
    assert 18 <= size <= 4096 and len(record) <= size and length == 65
    shared = key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))
    material = derived(shared, auth, b"WebPush: info\0" + point(key.public_key()) + sender, 32)
    content_key = derived(material, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = derived(material, salt, b"Content-Encoding: nonce\0", 12)
    text = AESGCM(content_key).decrypt(nonce, record, None).rstrip(b"\0")
    assert text[-1] == 2
    return text[:-1]


def read(headers, body, vapid_key):
    """The claims and the text of a message.
    - Raises: whatever is wrong with it."""
    scheme, parameters = headers["authorization"].split(" ", 1)
    fields = dict(part.strip().split("=", 1) for part in parameters.split(","))
    head, claims, signature = fields["t"].split(".")
    raw = decoded(signature)
    assert scheme == "vapid" and len(raw) == 64
    own = serialization.load_pem_private_key(open(vapid_key, "rb").read(), None).public_key()
    assert decoded(fields["k"]) == point(own)
    pair = utils.encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    own.verify(pair, f"{head}.{claims}".encode(), ec.ECDSA(hashes.SHA256()))
    assert json.loads(decoded(head)) == {"typ": "JWT", "alg": "ES256"}
    claims = json.loads(decoded(claims))
    assert set(claims) == {"aud", "exp", "sub"} and claims["aud"] == "https://" + headers["host"]
    assert headers["content-encoding"] == "aes128gcm" and len(body) <= 4096
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,32}", headers["topic"]) and headers["urgency"] == "high"
    return claims, json.loads(decrypted(body))

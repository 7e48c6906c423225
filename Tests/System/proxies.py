"""Asks a server through a proxy, reading and writing, until standard input ends: proxies.py URL. Prints how many requests were
answered; exits 1 if one failed. No request is sent again."""
import collections
import http.client
import json
import ssl
import sys
import threading
import time
import urllib.parse
import uuid

CLIENTS = 8
address = urllib.parse.urlsplit(sys.argv[1])
context = ssl.create_default_context()
counts = collections.Counter()
over = threading.Event()


class Client:
    def __init__(self):
        self.connection = http.client.HTTPSConnection(address.hostname, address.port, timeout=20, context=context)

    def ask(self, method, path, body=None, token=None):
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self.connection.request(method, "/api/v1" + path, body and json.dumps(body), headers)
        answer = self.connection.getresponse()
        content = answer.read()
        counts[f"{method} {answer.status}"] += 1
        return json.loads(content) if answer.status < 300 else None


def play():
    client = Client()
    person = {"email": f"{uuid.uuid4()}@example.com", "password": "a long passphrase", "display_name": "Ada"}
    token = client.ask("POST", "/auth/signup", person)["access_token"]
    family = client.ask("POST", "/families", {"name": "The Lovelaces"}, token)["family_id"]
    number = 0
    while not over.is_set():
        number += 1
        try:
            client.ask("GET", f"/families/{family}", token=token)
            client.ask("PATCH", f"/families/{family}", {"name": f"The Lovelaces {number}"}, token)
        except (OSError, http.client.HTTPException) as fault:
            counts[f"{type(fault).__name__}: {fault}"] += 1
            client = Client()
        time.sleep(0.005)


threads = [threading.Thread(target=play) for _ in range(CLIENTS)]
for thread in threads:
    thread.start()
sys.stdin.read()
over.set()
for thread in threads:
    thread.join()
print(json.dumps(counts, sort_keys=True))
answered = sum(number for what, number in counts.items() if what.split()[-1] in ("200", "201"))
sys.exit(answered != sum(counts.values()) or answered < 1_000)

"""Sends requests with a token in their address through a proxy, in all ways that a proxy may log: proxy_logs.py TOKEN PORT
PLAIN-PORT [SERVER-PORT...]. Each must end, well or badly; what was logged of them is the caller's to check. Where servers' ports
are named, something there takes each connection and closes it before it answers."""
import base64
import concurrent.futures
import os
import socket
import ssl
import sys
import threading

TOKEN = sys.argv[1]
PORT, PLAIN_PORT = int(sys.argv[2]), int(sys.argv[3])
SOCKET = f"/api/v1/ws?token={TOKEN}&family_id=00000000-0000-4000-8000-000000000000"
UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n")


def request(address, headers="", host="localhost", method="GET", version="HTTP/1.1"):
    return f"{method} {address} {version}\r\nHost: {host}\r\n{headers}\r\n".encode()


REQUESTS = [
    request(SOCKET, UPGRADE),
    request(SOCKET),
    request(SOCKET.replace("ws", "%77s")),
    request(SOCKET.replace("ws", "ws/")),
    request(f"https://localhost{SOCKET}", UPGRADE),
    request(SOCKET, UPGRADE, version="HTTP/1.0"),
    request(SOCKET, UPGRADE, host="another.example"),
    request(f"/api/v1/calendar/{TOKEN}.ics"),
    request(f"/api/v1/calendar/{TOKEN}.ics?words={TOKEN}", method="HEAD"),
    # Refused by the proxy.
    request(SOCKET, "Host: another.example\r\n"),
    request(SOCKET, "no header\r\n"),
    request(SOCKET, "Content-Length: 20000000\r\n"),
    request(SOCKET, "Content-Length: two\r\n"),
    request(SOCKET, f"Filler: {'x' * 100_000}\r\n"),
    request(SOCKET + " and more"),
    request(SOCKET + "\0"),
    request(SOCKET, version="HTTP/7.0"),
    request(SOCKET, method="B(EW"),
    request(SOCKET + "x" * 100_000),
    # Given up by the client.
    request(SOCKET, UPGRADE)[:-2],
    f"GET {SOCKET}".encode(),
]


def send(content, encrypted):
    """The first bytes of what comes back, until the proxy closes or nothing more comes."""
    with socket.create_connection(("127.0.0.1", PORT if encrypted else PLAIN_PORT), timeout=15) as plain:
        with ssl.create_default_context().wrap_socket(plain, server_hostname="localhost") if encrypted else plain as connection:
            try:
                connection.sendall(content)
                if content.endswith(b"\r\n\r\n"):
                    return connection.recv(65536)
            except OSError as fault:
                return repr(fault).encode()
    return b""


def close_each(port):
    """A server that takes each connection, reads and closes it."""
    listener = socket.create_server(("127.0.0.1", port))

    def serve():
        while True:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(5)
                try:
                    connection.recv(65536)
                except OSError:
                    pass

    threading.Thread(target=serve, daemon=True).start()


for server in sys.argv[4:]:
    close_each(int(server))
with concurrent.futures.ThreadPoolExecutor(16) as pool:
    both = [(content, encrypted) for content in REQUESTS for encrypted in (True, False)]
    answers = list(pool.map(lambda arguments: send(*arguments), both))
for (content, encrypted), answer in zip(both, answers):
    print("TLS  " if encrypted else "plain", content[:60], answer.split(b"\r\n")[0][:60])

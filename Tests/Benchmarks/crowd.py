"""WebSockets of many clients, in one process."""
import base64
import os
import select
import socket
import threading
import urllib.parse


def open_socket(url, token, family, source="127.0.0.1", origin=None):
    place = urllib.parse.urlsplit(url)
    connection = socket.create_connection((place.hostname, place.port), 30, (source, 0))
    fields = f"Origin: {origin}\r\n" if origin else ""
    key = base64.b64encode(os.urandom(16)).decode()
    connection.sendall(
        f"GET /api/v1/ws?token={token}&family_id={family} HTTP/1.1\r\nHost: bench\r\nConnection: Upgrade\r\n"
        f"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
        f"{fields}\r\n".encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        received = connection.recv(1)  # what follows the head is the first frame
        assert received, "closed without an answer"
        head += received
    assert head.startswith(b"HTTP/1.1 101"), head[:100]
    return connection


class Crowd:
    """Idle sockets, as clients keep them: a thread answers the server's pings for all of them."""

    def __init__(self):
        self.sockets, self.poll, self.closed, self.is_over = {}, select.epoll(), [], False
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self.answer, daemon=True)
        self.thread.start()

    def add(self, connection):
        with self.lock:
            self.sockets[connection.fileno()] = connection
            self.poll.register(connection, select.EPOLLIN)

    def remove_oldest(self):
        """Says goodbye to the server, and closes it."""
        with self.lock:
            number = next(iter(self.sockets))
            self.poll.unregister(number)
            connection = self.sockets.pop(number)
            connection.sendall(b"\x88\x80\0\0\0\0")
            connection.close()

    def answer(self):
        while not self.is_over:
            for number, _ in self.poll.poll(0.5):
                with self.lock:
                    self.receive(number)

    def receive(self, number):
        connection = self.sockets.get(number)
        if connection is None:
            return  # removed since
        received = connection.recv(4096)
        if not received or received[0] == 0x88:
            self.poll.unregister(connection)
            self.closed.append(received)
        elif b"\x89\x00" in received:
            connection.sendall(b"\x8A\x80\0\0\0\0")

    def close(self):
        self.is_over = True
        self.thread.join()
        for connection in self.sockets.values():
            connection.close()
        self.poll.close()

    def check(self):
        assert not self.closed, f"the server has closed {len(self.closed)} sockets, one with {self.closed[0]!r}"

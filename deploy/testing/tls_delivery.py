"""A nag's notification over TLS: tls_delivery.py SERVER PORT SECRET CERTIFICATE. A family is made on the server, and a child is
nagged until a signed message arrives at https://localhost:PORT; CERTIFICATE holds the certificate and its key."""
import http.client
import pathlib
import ssl
import sys

from household import DEADLINE, Broken, Household
from webhook import Webhook


class Server:
    """What a household sends its requests to."""

    def __init__(self, address):
        self.address = address

    def request(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection(self.address, timeout=10)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


class Receiver(Webhook):
    """A webhook that speaks nothing but TLS."""

    def __init__(self, port, secret, certificate):
        self.messages = []
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate)
        super().__init__(port, secret)

    def get_request(self):
        plain, address = super().get_request()
        return self.context.wrap_socket(plain, server_side=True), address

    def received(self, message):
        self.messages.append(message)


def main():
    server, port, secret, certificate = sys.argv[1:]
    receiver = Receiver(int(port), pathlib.Path(secret).read_bytes().strip(), certificate)
    household = Household([Server(server.removeprefix("http://"))])
    household.start()
    with receiver.changed:
        receiver.changed.wait_for(lambda: receiver.messages or receiver.faults or household.fault, DEADLINE)
    household.over.set()
    household.join()
    if household.fault or receiver.faults or not receiver.messages:
        raise Broken(f"{household.fault or ''} {receiver.faults}, {len(receiver.messages)} messages")
    print(f"{len(receiver.messages)} messages, the first for delivery {receiver.messages[0]['delivery_id']}")


main()

"""A nag's notification over TLS: tls_delivery.py PORT WEBHOOK SECRET CERTIFICATE. A family is made on the server at PORT, and a child
is nagged until a signed message arrives at https://localhost:WEBHOOK; CERTIFICATE holds the certificate and its key."""
import pathlib
import ssl
import sys

from household import DEADLINE, Broken, Household, request
from webhook import Webhook


class Server:
    """What a household sends its requests to."""

    def __init__(self, port):
        self.port = port

    def request(self, method, path, body=None, headers=None):
        return request(self.port, method, path, body, headers)


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
    port, webhook, secret, certificate = sys.argv[1:]
    receiver = Receiver(int(webhook), pathlib.Path(secret).read_bytes().strip(), certificate)
    household = Household([Server(int(port))])
    household.start()
    with receiver.changed:
        receiver.changed.wait_for(lambda: receiver.messages or receiver.faults or household.fault, DEADLINE)
    household.over.set()
    household.join()
    if household.fault or receiver.faults or not receiver.messages:
        raise Broken(f"{household.fault or ''} {receiver.faults}, {len(receiver.messages)} messages")
    print(f"{len(receiver.messages)} messages, the first for delivery {receiver.messages[0]['delivery_id']}")


main()

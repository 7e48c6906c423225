"""An operator's webhook on loopback, for the tests of notifications."""
import hashlib
import hmac
import http.server
import json
import sys
import threading
import time

FRESH = 60  # seconds that a signature may be old


class Webhook(http.server.ThreadingHTTPServer):
    """Acknowledges every message, and hands those with a right signature to `received` under the lock `changed`."""

    request_queue_size = 128

    def __init__(self, port, secret):
        super().__init__(("127.0.0.1", port), Post)
        self.secret = secret
        self.changed = threading.Condition()
        self.faults = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def received(self, message):
        """What a subclass does about a message."""

    def accept(self, headers, body):
        timestamp = headers["Nagz-Timestamp"] or ""
        code = hmac.new(self.secret, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
        with self.changed:
            if not hmac.compare_digest(headers["Nagz-Signature"] or "", "v1=" + code):
                self.faults.append(f"wrong signature {headers['Nagz-Signature']}")
            elif not timestamp.isdigit() or abs(time.time() - int(timestamp)) > FRESH:
                self.faults.append(f"old timestamp {timestamp}")
            else:
                message = json.loads(body)
                name = headers["Nagz-Delivery-Id"]
                if message["delivery_id"] != name:
                    self.faults.append(f"delivery {name} has the body of {message['delivery_id']}")
                self.received(message)
            self.changed.notify_all()

    def handle_error(self, request, client_address):
        """A killed server closes its connections; anything else is a fault of the test."""
        _, fault, _ = sys.exc_info()
        if not isinstance(fault, ConnectionError):
            self.faults.append(repr(fault))


class Post(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.server.accept(self.headers, self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass

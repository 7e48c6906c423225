"""Writes each message that comes to a socket of the system log to a file, a line each: syslog.py SOCKET FILE."""
import os
import socket
import sys

log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
log.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
with open(sys.argv[2], "ab", buffering=0) as file:
    while True:
        file.write(log.recv(65536) + b"\n")

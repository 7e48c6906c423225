"""Runs what a service unit runs, in a file system tree without systemd: run_unit.py TREE UNIT (nagz@9801.service for an
instance). Environment, credentials, state directory, user, umask and the limit of descriptors are the unit's; its sandbox is
not applied."""
import os
import pwd
import re
import resource
import shlex
import shutil
import sys

tree, unit = sys.argv[1:]
os.chroot(tree)
os.chdir("/")
name, _, instance = unit.removesuffix(".service").partition("@")
file = f"/lib/systemd/system/{name}@.service" if instance else f"/lib/systemd/system/{unit}"
credentials = f"/run/credentials/{unit}"


def resolved(text):
    values = {"%d": credentials, "%S": "/var/lib", "%i": instance, "%%": "%"}
    return re.sub("%.", lambda match: values[match[0]], text)


settings, section = {}, ""
for line in open(file):
    line = line.strip()
    if line.startswith("["):
        section = line
    elif section == "[Service]" and line and not line.startswith("#"):
        key, _, value = line.partition("=")
        settings.setdefault(key, []).append(resolved(value))

environment = {"PATH": "/usr/bin:/bin"}
for text in settings.get("Environment", []):
    environment.update(word.split("=", 1) for word in shlex.split(text))
for path in settings.get("EnvironmentFile", []):
    for line in open(path):
        if line.strip() and not line.startswith("#"):
            key, _, value = line.strip().partition("=")
            environment[key] = " ".join(shlex.split(value))

user = pwd.getpwnam(settings["User"][0])
shutil.rmtree(credentials, ignore_errors=True)
os.makedirs(credentials)
for text in settings.get("LoadCredential", []):
    credential, _, path = text.partition(":")
    shutil.copyfile(path, f"{credentials}/{credential}")
    os.chmod(f"{credentials}/{credential}", 0o400)
    os.chown(f"{credentials}/{credential}", user.pw_uid, user.pw_gid)
for directory in settings.get("StateDirectory", []):
    os.makedirs(f"/var/lib/{directory}", exist_ok=True)
    os.chmod(f"/var/lib/{directory}", int(settings["StateDirectoryMode"][0], 8))
    os.chown(f"/var/lib/{directory}", user.pw_uid, user.pw_gid)
if "LimitNOFILE" in settings:
    limit = min(int(settings["LimitNOFILE"][0]), resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

words = []
for word in shlex.split(settings["ExecStart"][0]):
    variable = re.fullmatch(r"\$(\w+)", word)
    words += shlex.split(environment.get(variable[1], "")) if variable else [word]
os.umask(int(settings["UMask"][0], 8))
os.setgroups([])
os.setgid(user.pw_gid)
os.setuid(user.pw_uid)
os.execve(words[0], words, environment)

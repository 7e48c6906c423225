# shellcheck shell=bash
# A systemd of its own in a file system tree, as in a container, on the network of this machine. Sourced after lib.sh; needs root.

SYSTEMD= # process id of that systemd
CGROUP=  # where its services are

# The newer hierarchy of control groups, which systemd keeps its services in.
cgroups() { findmnt -n -t cgroup2 -o TARGET | head -n 1; }

# Whether this user may do it.
can_boot() { can_mount && [ -w "$(cgroups)/cgroup.procs" ]; }

# In namespaces of its own: makes the tree the root, and becomes its systemd.
# shellcheck disable=SC2016 # for the shell there
BOOT='
cd "$0"
mount --rbind . .
cd "$0"
mount -t proc proc proc
mount --bind -o ro proc/sys proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/pts dev/shm
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
for device in null zero full random urandom tty; do
    touch "dev/$device"
    mount --bind "/dev/$device" "dev/$device"
done
pivot_root . .
umount -l .
mount --make-rshared /
exec setpriv --bounding-set=-sys_module,-sys_time env -i container=nagz-test /lib/systemd/systemd --unit=basic.target --log-target=journal'

# boot_tree TREE
boot_tree() {
    local parent
    CGROUP=$(cgroups)/nagz-test-$$
    mkdir "$CGROUP"
    # shellcheck disable=SC2016 # for the shell that enters the group
    sh -c 'echo $$ >"$0/cgroup.procs" && exec unshare --pid --fork --kill-child --mount --uts --ipc --cgroup sh -ec "$1" "$2"' \
        "$CGROUP" "$BOOT" "$1" </dev/null >"$STATE/log/systemd.log" 2>&1 9>&- &
    parent=$!
    disown "$parent"
    for _ in {1..300}; do
        SYSTEMD=$(pgrep -P "$parent") || true
        if [ "$(cat "/proc/$SYSTEMD/comm" 2>/dev/null)" = systemd ] &&
            [ "$(in_tree systemctl is-system-running 2>/dev/null)" = running ]; then return 0; fi
        kill -0 "$parent" 2>/dev/null || break
        sleep 0.1
    done
    die "$EX_SOFTWARE" "systemd does not start in the tree: $(last_line "$STATE/log/systemd.log") $(in_tree systemctl --failed --no-legend)"
}

# in_tree COMMAND...: beside the services of the tree, as root.
in_tree() {
    nsenter --target "$SYSTEMD" --mount --pid --uts --ipc --cgroup \
        env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}

# Ends that systemd and with it all its services.
end_tree() {
    [ -n "$CGROUP" ] || return 0
    echo 1 >"$CGROUP/cgroup.kill" || return 0
    while grep -q 'populated 1' "$CGROUP/cgroup.events"; do sleep 0.1; done
    find "$CGROUP" -depth -type d -exec rmdir {} \; || true
    SYSTEMD='' CGROUP=''
}

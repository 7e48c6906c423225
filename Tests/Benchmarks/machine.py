"""What the kernel says about processes and the machine: processor time, memory, and who else was busy."""
import os
import re
import resource

TICKS = os.sysconf("SC_CLK_TCK")


def _times(pid):
    """Parent, own and reaped children's processor seconds (all threads) of one process."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return int(fields[1]), sum(map(int, fields[11:13])) / TICKS, sum(map(int, fields[13:15])) / TICKS


def family(root):
    """The process and all its descendants."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                children.setdefault(_times(name)[0], []).append(int(name))
            except OSError:
                pass
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        waiting += children.get(pid, [])
    return found


def cpu_seconds(root):
    """Processor time of a process, its descendants and the children they have reaped."""
    total = 0.0
    for pid in family(root) if root else []:
        try:
            _, own, reaped = _times(pid)
            total += own + reaped
        except OSError:
            pass
    return total


def peak_megabytes(root):
    total = 0
    for pid in family(root):
        try:
            with open(f"/proc/{pid}/status") as status:
                found = re.search(r"VmHWM:\s+(\d+)", status.read())
            total += int(found.group(1)) if found else 0
        except OSError:
            pass
    return total / 1024


def resident_bytes(pid):
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) * 1024


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def busy_seconds():
    """Processor time of the whole machine, all processors."""
    with open("/proc/stat") as stat:
        values = [int(value) for value in stat.readline().split()[1:]]
    return (sum(values[:8]) - values[3] - values[4]) / TICKS


def finished_children_seconds():
    """Processor time of the children this process has waited for (wrk, pgbench)."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime

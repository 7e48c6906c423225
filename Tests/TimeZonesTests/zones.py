"""The zones of PyPI's tzdata as Python reads them: the folder, then a line for each zone with its name, its offset at the
beginning of 2020, and each change until the end of 2030 as moment=offset, in seconds."""
import datetime, importlib.resources, os, zoneinfo

zoneinfo.reset_tzpath([])  # the package's files, not the system's
UTC = datetime.timezone.utc
FIRST, LAST = (int(datetime.datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in (2020, 2031))
STEP = 86_400


def offset(zone, moment):
    return int(datetime.datetime.fromtimestamp(moment, zone).utcoffset().total_seconds())


def changes(zone):
    before = offset(zone, FIRST)
    for early in range(FIRST, LAST, STEP):
        late, after = early + STEP, offset(zone, early + STEP)
        if after == before:
            continue
        while late - early > 1:
            middle = (early + late) // 2
            if offset(zone, middle) == before:
                early = middle
            else:
                late = middle
        yield late, after
        before = after


folder = importlib.resources.files("tzdata").joinpath("zoneinfo")
print(os.fspath(folder))
for name in sorted(zoneinfo.available_timezones()):
    zone = zoneinfo.ZoneInfo(name)
    print(name, offset(zone, FIRST), *(f"{moment}={after}" for moment, after in changes(zone)))

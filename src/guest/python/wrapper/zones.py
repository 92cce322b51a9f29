# The time zone data lives in the snapshot as well, once for all names of a zone.
import io
import zipfile

ROOT = 'tzdata/zoneinfo/'


def read(path):
    zones, seen = {}, {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if not name.startswith(ROOT):
                continue
            zone = archive.read(name)
            if zone.startswith(b'TZif'):
                zones[name[len(ROOT):]] = seen.setdefault(zone, zone)
    return zones


data = read('/lib/stdlib.zip')


def change_common(module):
    def load_tzdata(key):
        if key not in data:
            raise module.ZoneInfoNotFoundError(f'No time zone found with key {key}')
        return io.BytesIO(data[key])
    module.load_tzdata = load_tzdata


def change_tzpath(module):
    module.reset_tzpath(())
    module.available_timezones = lambda: {*data} - {'posixrules', 'Factory', 'localtime'}


changes = {'zoneinfo._common': change_common, 'zoneinfo._tzpath': change_tzpath}

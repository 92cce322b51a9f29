# Modules that are imported before the snapshot: a guest's import of them costs a dictionary look-up.
import importlib

NAMES = '''
abc argparse array ast asyncio base64 bisect bz2 calendar cmath codecs collections collections.abc colorsys
concurrent.futures.thread configparser contextlib contextvars copy copyreg csv dataclasses datetime decimal difflib dis
email email.message email.mime.multipart email.mime.text email.parser email.policy encodings.ascii encodings.cp1252
encodings.idna encodings.latin_1 encodings.utf_16 encodings.utf_8_sig enum errno fnmatch fractions functools gc
getopt getpass gettext glob graphlib gzip hashlib heapq hmac html html.entities html.parser http http.client inspect
io ipaddress itertools json keyword linecache locale logging logging.config logging.handlers lzma math mimetypes
numbers operator os os.path pathlib pickle pkgutil platform plistlib pprint queue quopri random re reprlib sched
secrets select selectors shelve shlex shutil signal socket sqlite3 stat statistics string stringprep struct
subprocess symtable sys tarfile tempfile textwrap threading time timeit token tokenize tomllib traceback types typing
unicodedata unittest unittest.mock urllib.error urllib.parse urllib.request uuid warnings weakref xml.dom.minidom
xml.etree.ElementTree xml.sax zipfile zlib zoneinfo _strptime _sitebuiltins
'''

for name in NAMES.split():
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in ('_dbm', '_gdbm', 'dbm', 'select'):
            raise

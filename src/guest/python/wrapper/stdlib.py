# The standard library lives in the snapshot: every module's code, compressed, in a dictionary.
import importlib.machinery
import importlib.util
import linecache
import marshal
import sys
import zipfile
import zlib

PYC_HEADER = 16


# A traceback would look for the source on disk, for each frame anew.
def no_source(place):
    linecache.cache[place] = (0, None, [], place)


class Library:
    def __init__(self):
        self.modules = {}

    def read(self, path):
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                if not entry.filename.endswith('.pyc') or entry.filename.startswith('tzdata/') or '__pycache__' in entry.filename:
                    continue
                name = entry.filename[:-len('.pyc')].replace('/', '.')
                package = name.endswith('.__init__')
                if package:
                    name = name[:-len('.__init__')]
                self.modules[name] = (package, zlib.compress(archive.read(entry)[PYC_HEADER:], 6))

    def find_spec(self, name, path=None, target=None):
        entry = self.modules.get(name)
        if entry is None:
            reason = missing.get(name)
            if reason:
                raise ModuleNotFoundError(f'No module named {name!r}: {reason}', name=name)
            return None
        place = '/lib/' + name.replace('.', '/')
        origin = place + ('/__init__.py' if entry[0] else '.py')
        spec = importlib.machinery.ModuleSpec(name, self, origin=origin, is_package=entry[0])
        spec.has_location = True
        if entry[0]:
            spec.submodule_search_locations = [place]
        return spec

    def create_module(self, spec):
        return None

    def get_code(self, name):
        return marshal.loads(zlib.decompress(self.modules[name][1]))

    def get_source(self, name):
        return None

    def is_package(self, name):
        return self.modules[name][0]

    def exec_module(self, module):
        name = module.__spec__.name
        no_source(module.__spec__.origin)
        exec(self.get_code(name), module.__dict__)
        change = changes.get(name)
        if change:
            change(module)

    def __repr__(self):
        return '<standard library>'


# A file written a moment ago must be found: the time of a directory is not fine enough to tell.
class WorkFinder(importlib.machinery.FileFinder):
    def find_spec(self, fullname, target=None):
        self._path_mtime = -1
        return super().find_spec(fullname, target)


def install(path):
    library = Library()
    library.read(path)
    sys.meta_path.insert(2, library)
    loaders = [(importlib.machinery.SourceFileLoader, importlib.machinery.SOURCE_SUFFIXES),
               (importlib.machinery.SourcelessFileLoader, importlib.machinery.BYTECODE_SUFFIXES)]
    sys.path_hooks[:] = [sys.path_hooks[0], WorkFinder.path_hook(*loaders)]
    sys.path[:] = ['/work']
    sys.path_importer_cache.clear()
    sys.modules['zipimport']._zip_directory_cache.clear()
    # What was imported before stays, with its loader and place as if it had come from here.
    for name, module in list(sys.modules.items()):
        if name in library.modules and getattr(module, '__file__', None):
            module.__spec__ = library.find_spec(name)
            module.__loader__ = library
            no_source(module.__spec__.origin)
            module.__file__ = module.__spec__.origin
            if hasattr(module, '__path__'):
                module.__path__ = module.__spec__.submodule_search_locations
        if name in changes:
            changes[name](module)

"Hands the metadata of settings.ini to setuptools."
import shutil
import sys
from configparser import ConfigParser
from pathlib import Path
from setuptools import find_packages, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ini = ConfigParser(delimiters=['='])
ini.read('settings.ini', encoding='utf-8')
cfg = ini['DEFAULT']
lib = cfg['lib_path']

# What the tests read beyond the package: without these an unpacked archive can't be tested.
SOURCES = 'nbs', 'tests', 'benchmarks', 'examples', '.ci', 'docs/notebooks'
LEFT_OUT = '__pycache__', '.ipynb_checkpoints'

class SdistWithSources(sdist):
    "A source archive can only be built if it holds settings.ini, and tested if it holds the tests."
    def make_distribution(self):
        more = [p for folder in SOURCES for p in sorted(Path(folder).rglob('*'))
                if p.is_file() and not set(p.parts) & set(LEFT_OUT)]
        files = ['settings.ini', 'CHANGELOG.md', 'CONTRIBUTING.md', 'CITATION.cff', *map(str, more)]
        self.filelist.extend(files)
        super().make_distribution()

class BuildWithChapters(build_py):
    "A wheel holds what `oia book` copies; an editable install finds it in docs/notebooks."
    def run(self):
        super().run()
        if not self.editable_mode:
            sys.path.append('nbs/tools')
            from copies import write_book
            target = Path(self.build_lib, lib, 'chapters')
            shutil.rmtree(target, ignore_errors=True)
            write_book(Path('nbs'), target)

setup(
    name=cfg['lib_name'],
    version=cfg['version'],
    description=cfg['description'],
    long_description=Path('README.md').read_text(encoding='utf-8'),
    long_description_content_type='text/markdown',
    author=cfg['author'],
    license='Apache-2.0',
    license_files=['LICENSE'],
    keywords=cfg['keywords'].split(),
    classifiers=[
        'Development Status :: 3 - Alpha',
        f"Intended Audience :: {cfg['audience']}",
        f"Natural Language :: {cfg['language']}",
        'Framework :: Jupyter',
        'Programming Language :: Python :: 3',
        *(f'Programming Language :: Python :: {v}' for v in cfg['pythons'].split()),
        'Typing :: Typed',
    ],
    python_requires=f">={cfg['min_python']}",
    packages=find_packages(include=[lib, f'{lib}.*']),
    package_data={lib: ['data/*', 'schemas/*.json', 'js/*', 'py.typed']},
    install_requires=cfg['requirements'].split(),
    extras_require={
        extra: cfg[f'{extra}_requirements'].split()
        for extra in ('dev', 'fast', 'dask', 'notebooks')
    },
    entry_points={
        'nbdev': [f'{lib}={lib}._modidx:d'],
        'console_scripts': cfg['console_scripts'].split()
    },
    cmdclass={'build_py': BuildWithChapters, 'sdist': SdistWithSources},
    zip_safe=False,
)

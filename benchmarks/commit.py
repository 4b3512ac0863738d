"Which commit plays: the stored tables name it, row by row."
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

def git(*args):
    return subprocess.run(['git', '-C', ROOT, *args], check=True, capture_output=True,
                          text=True).stdout.strip()

def commit():
    "The commit that is checked out, with a + if a module has been changed since."
    changed = git('status', '--porcelain', '--', 'oia_nb')
    return git('rev-parse', '--short=8', 'HEAD') + '+'*bool(changed)

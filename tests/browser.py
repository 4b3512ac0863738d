"""A headless Chromium, spoken to through a pipe in the DevTools protocol; nothing to install but
the browser."""
import json
import os
import shutil
import time
from fcntl import F_DUPFD, fcntl
from select import select
from signal import SIGTERM

NAMES = 'chromium', 'chromium-browser', 'google-chrome', 'chrome'
PATIENCE = 30.      # seconds for an answer
WAYS = {'ArrowLeft': 37, 'ArrowUp': 38, 'ArrowRight': 39, 'ArrowDown': 40}

def installed():
    "The browser's path, or None."
    return next(filter(None, map(shutil.which, NAMES)), None)

class Browser:
    "One page; use in a `with` statement."
    def __init__(self, folder):
        mine, theirs = os.pipe(), os.pipe()     # what we write, what we read
        flags = ('--headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run '
                 f'--remote-debugging-pipe --user-data-dir={folder} about:blank')
        high = [fcntl(fd, F_DUPFD, 10) for fd in (mine[0], theirs[1])]
        places = [(os.POSIX_SPAWN_DUP2, fd, at) for fd, at in zip(high, (3, 4))]
        quiet = os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0
        self.pid = os.posix_spawn(installed(), [installed(), *flags.split()], os.environ,
                                  file_actions=[*places, quiet])
        for fd in (mine[0], theirs[1], *high):
            os.close(fd)
        self.out, self.into = mine[1], theirs[0]
        self.count, self.rest, self.session, self.events = 0, b'', None, []
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        self.session = self.call('Target.attachToTarget', targetId=target,
                                 flatten=True)['sessionId']
        for domain in 'Page', 'Runtime', 'Network':
            self.call(f'{domain}.enable')

    def __enter__(self):
        return self

    def __exit__(self, *error):
        os.kill(self.pid, SIGTERM)
        os.waitpid(self.pid, 0)
        os.close(self.out)
        os.close(self.into)

    def call(self, method, **params):
        "The result of a command; events that come before it are kept in `events`."
        self.count += 1
        message = {'id': self.count, 'method': method, 'params': params}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.out, json.dumps(message).encode() + b'\0')
        while True:
            said = self.receive()
            if said.get('id') != self.count:
                self.events.append(said)
            elif 'error' in said:
                raise RuntimeError(f'{method}: {said["error"]["message"]}')
            else:
                return said['result']

    def receive(self):
        "The next message."
        while b'\0' not in self.rest:
            if not select([self.into], [], [], PATIENCE)[0]:
                raise TimeoutError('the browser says nothing')
            self.rest += os.read(self.into, 1 << 20)
        first, self.rest = self.rest.split(b'\0', 1)
        return json.loads(first)

    def open(self, path, width=1000, height=900, touch=False, media=()):
        "Load a file; `media` are features to emulate, as pairs."
        self.events.clear()
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height,
                  deviceScaleFactor=1, mobile=touch)
        self.call('Emulation.setTouchEmulationEnabled', enabled=touch)
        self.call('Emulation.setEmulatedMedia',
                  features=[{'name': n, 'value': v} for n, v in media])
        self.call('Page.navigate', url=path.resolve().as_uri())
        self.wait('document.readyState === "complete"')

    def wait(self, expression):
        "Until an expression holds."
        until = time.monotonic() + PATIENCE
        while not self.value(f'!!({expression})'):
            if time.monotonic() > until:
                raise TimeoutError(expression)
            time.sleep(.02)

    def value(self, expression):
        "What an expression of JavaScript comes to."
        found = self.call('Runtime.evaluate', expression=expression, returnByValue=True,
                          awaitPromise=True)
        if 'exceptionDetails' in found:
            raise RuntimeError(found['exceptionDetails'].get('exception', found))
        return found['result'].get('value')

    def seen(self, kind):
        "What the events of a kind said so far."
        return [e['params'] for e in self.events if e['method'] == kind]

    def centre(self, selector):
        "Where the middle of an element is, in pixels of the window."
        return self.value(f'(() => {{ const e = document.querySelector({json.dumps(selector)})\n'
                          'e.scrollIntoView({block: "nearest"})\n'
                          'const r = e.getBoundingClientRect()\n'
                          'return [r.x + r.width/2, r.y + r.height/2] })()')

    def drag(self, start, end, touch=False, steps=5):
        "With the mouse, or with a finger, from one point to another."
        way = [[a + (b - a)*i/steps for a, b in zip(start, end)] for i in range(steps + 1)]
        def send(kind, x, y):
            if touch:
                points = [] if kind == 'Released' else [{'x': x, 'y': y}]
                kind = dict(Pressed='touchStart', Moved='touchMove', Released='touchEnd')[kind]
                self.call('Input.dispatchTouchEvent', type=kind, touchPoints=points)
            else:
                self.call('Input.dispatchMouseEvent', type=f'mouse{kind}', x=x, y=y,
                          button='left', buttons=1, clickCount=1)
        for kind, place in ('Pressed', way[0]), *(('Moved', place) for place in way[1:]), (
                'Released', way[-1]):
            send(kind, *place)

    def press(self, key):
        for kind in 'keyDown', 'keyUp':
            self.call('Input.dispatchKeyEvent', type=kind, key=key, code=key,
                      windowsVirtualKeyCode=WAYS.get(key, 0))

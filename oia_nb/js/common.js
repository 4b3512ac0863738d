// What all live figures share: a stage with a picture, handles, sliders, buttons, axes.
const clamp = (x, lo, hi) => Math.min(Math.max(x, lo), hi)
const dot = (a, b) => a.reduce((s, x, i) => s + x*b[i], 0)
const fix = (x, n = 3) => x === null ? '–' : x.toFixed(n).replace('-', '−')
const esc = s => String(s).replace(/[&<>"]/g, c => `&#${c.charCodeAt()};`)
const ink = k => `var(--k${k % 6})`
const path = points => 'M' + points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L')
const draw = (points, more) => `<path d="${path(points)}" ${more}/>`
const note = (x, y, s, more = '') => `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${esc(s)}</text>`
const spot = (x, y, r, more) => `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${r}" ${more}/>`
const star = (x, y, what) => `<path transform="translate(${x.toFixed(1)} ${y.toFixed(1)})" d="M0-8l2.3 5.2 5.7.5-4.3 3.8 1.3 5.5-5-2.9-5 2.9 1.3-5.5-4.3-3.8 5.7-.5z" class="star"><title>${esc(what)}</title></path>`
const middle = 'text-anchor="middle"', end = 'text-anchor="end"'
const sup = n => [...String(n)].map(c => '⁰¹²³⁴⁵⁶⁷⁸⁹'[c] ?? '⁻').join('')
const big = x => !isFinite(x) ? 'without bound' : x < 1e7 ? Math.round(x).toLocaleString('en-GB') : x.toExponential(1).replace(/e\+?(\d+)/, (_, e) => ' × 10' + sup(e))

// Axes of the box [x0, x1] × [y1, y0] in pixels, with ticks at [value, pixel] and a label each.
function axes([x0, x1, y0, y1], xs, ys, xlabel, ylabel) {
  return `<path class="axis" d="M${x0} ${y1}V${y0}H${x1}"/>` +
    xs.map(([s, x]) => note(x, y0 + 15, s, middle + ' class="dim"')).join('') +
    ys.map(([s, y]) => note(x0 - 5, y + 4, s, end + ' class="dim"')).join('') +
    note((x0 + x1)/2, y0 + 31, xlabel, middle) +
    `<g transform="translate(11 ${(y0 + y1)/2}) rotate(-90)">${note(0, 0, ylabel, middle)}</g>`
}

const CSS = `.oia-live{container-type:inline-size}
.oia{--k0:#0072b2;--k1:#8a5a00;--k2:#006a4e;--k3:#c24f00;--k4:#a03a7a;--k5:#4b5563;font:14px/1.45 system-ui,sans-serif;display:grid;grid-template-columns:minmax(0,3fr) minmax(13rem,2fr);gap:.2rem 1.2rem;align-items:start;max-width:58rem}
body[data-theme=dark] .oia,body[data-jp-theme-light=false] .oia{--k0:#4aa8e0;--k1:#c69837;--k2:#43bd9c;--k3:#f0803c;--k4:#ea87c1;--k5:#9aa8b6}
@media(prefers-color-scheme:dark){body[data-theme=auto] .oia{--k0:#4aa8e0;--k1:#c69837;--k2:#43bd9c;--k3:#f0803c;--k4:#ea87c1;--k5:#9aa8b6}}
@container(max-width:38rem){.oia{grid-template-columns:minmax(0,1fr)}}
.oia svg{width:100%;max-width:34rem;height:auto;display:block;overflow:visible}
.oia text{fill:currentColor;font-size:12px}.oia .dim{opacity:.7}.oia .axis{stroke:currentColor;stroke-opacity:.5;fill:none}
.oia .name{font-style:italic;pointer-events:none}.oia .star{fill:currentColor;fill-opacity:.6}
.oia .line{stroke:currentColor;stroke-width:2.2;fill:none}.oia .thin{stroke:currentColor;stroke-opacity:.45;stroke-dasharray:4 3;fill:none}
.oia .handle{cursor:grab}.oia .handle,.oia .handle circle{touch-action:none}.oia .handle:active{cursor:grabbing}.oia .handle .dot{stroke:#fff;stroke-width:2}
.oia .handle:focus-visible{outline:none}.oia .handle:focus-visible .dot{stroke:currentColor;stroke-width:3}
.oia table.bars{border-collapse:collapse;width:100%;margin:0 0 .6rem;display:table}
.oia td,.oia th{padding:.1rem .4rem .1rem 0;text-align:right;border:0;font-weight:400;background:none}
.oia th:first-child{text-align:left}.oia thead th{opacity:.75;font-size:12px}.oia tr.on th{font-weight:700}
.oia td.bar{width:40%;padding:0}.oia .bar i{display:block;height:.7em;border-radius:2px}
.oia td,.oia output,.oia b{font-variant-numeric:tabular-nums}.oia p{margin:.3rem 0}.oia .big{font-size:1.4rem;font-weight:600;line-height:1.2}
.oia label{display:block;margin:.15rem 0}.oia label output{float:right}.oia input[type=range]{width:100%;height:1.5rem;margin:0;display:block;accent-color:var(--k0)}
.oia button{font:inherit;padding:.15rem .7rem;margin:.15rem .4rem .15rem 0;border:1px solid currentColor;border-radius:.3rem;background:none;color:inherit;cursor:pointer}
.oia button[aria-pressed=true]{background:color-mix(in srgb,currentColor 16%,transparent);font-weight:600}
@media print{.oia-live{break-inside:avoid}.oia .controls{display:none}body .oia,body[data-theme] .oia,body[data-jp-theme-light] .oia{--k0:#0072b2;--k3:#d55e00;color:#000}.oia .bar i{print-color-adjust:exact;-webkit-print-color-adjust:exact}}`

// The stage: `stage.show(f)` sets what draws; `f` returns [what is drawn, what is said], both HTML.
function stage({model, el}, {keys, label, W, H}) {
  const box = document.createElement('div')
  box.className = 'oia'
  box.innerHTML = `<style>${CSS}</style><div><svg viewBox="0 0 ${W} ${H}" role="group" aria-label="${esc(label)}"><g></g></svg></div><div><div class="controls"></div><div class="said"></div></div>`
  const pic = box.querySelector('svg'), layer = pic.firstChild, controls = box.querySelector('.controls'), said = box.querySelector('.said')
  const start = Object.fromEntries(keys.map(k => [k, model.get(k)])), fresh = []
  let paint = () => ['', '']
  const redraw = () => {
    const [a, b] = paint()
    layer.innerHTML = a
    said.innerHTML = b
    fresh.forEach(f => f())
  }
  const put = (values, done) => {
    for (const k in values) model.set(k, values[k])
    redraw()
    if (done) model.save_changes()
  }
  keys.forEach(k => model.on('change:' + k, redraw))
  const add = html => {
    controls.insertAdjacentHTML('beforeend', html)
    return controls.lastElementChild
  }
  el.replaceChildren(box)
  return {
    pic, put, start, box,
    show(f) { paint = f; redraw() },
    // A point that can be dragged: place(value) is in pixels, value(point) is its inverse, kept within limits;
    // a key moves it by `step` pixels, or as nudge(value, ±1) says.
    handle({key, label, place, value, step, nudge, says, colour}) {
      pic.insertAdjacentHTML('beforeend', `<g class="handle" tabindex="0" role="slider" aria-label="${esc(label)}"><circle r="20" fill="transparent"/><circle class="dot" r="8"/></g>`)
      const g = pic.lastElementChild
      const at = e => {
        const p = new DOMPoint(e.clientX, e.clientY).matrixTransform(pic.getScreenCTM().inverse())
        return [p.x, p.y]
      }
      let held = false
      g.addEventListener('touchstart', e => e.preventDefault(), {passive: false})
      pic.addEventListener('pointerdown', e => {
        if (!g.contains(e.target) && e.pointerType !== 'mouse') return
        held = true
        pic.setPointerCapture(e.pointerId)
        g.focus({preventScroll: true})
        put({[key]: value(at(e))})
        e.preventDefault()
      })
      pic.addEventListener('pointermove', e => held && put({[key]: value(at(e))}))
      for (const over of ['pointerup', 'pointercancel']) pic.addEventListener(over, () => {
        if (held) model.save_changes()
        held = false
      })
      g.addEventListener('keydown', e => {
        const d = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[e.key]
        if (!d) return
        const [x, y] = place(model.get(key)), n = e.shiftKey ? 5*step : step
        put({[key]: nudge ? nudge(model.get(key), d[0] || -d[1]) : value([x + d[0]*n, y + d[1]*n])}, true)
        e.preventDefault()
      })
      fresh.push(() => {
        const v = model.get(key), [x, y] = place(v)
        g.setAttribute('transform', `translate(${x.toFixed(1)} ${y.toFixed(1)})`)
        g.lastChild.setAttribute('fill', colour())
        g.setAttribute('aria-valuenow', +(v[0] ?? v).toFixed(3))
        g.setAttribute('aria-valuetext', says())
      })
    },
    // A slider for a number; show(value) is what is written beside it; with log the value is a power of ten.
    slider({key, label, min, max, step, show, log}) {
      const to = log ? Math.log10 : x => x, from = log ? x => 10**x : x => x
      const row = add(`<label>${esc(label)} <output></output><input type="range" min="${to(min)}" max="${to(max)}" step="${step}"></label>`)
      const input = row.querySelector('input'), out = row.querySelector('output')
      input.oninput = () => put({[key]: from(+input.value)})
      input.onchange = () => put({[key]: from(+input.value)}, true)
      fresh.push(() => {
        const v = model.get(key)
        input.value = to(v)
        out.innerHTML = show(v)
        input.setAttribute('aria-valuetext', out.textContent)
      })
    },
    button(label, f) { add(`<button type="button">${esc(label)}</button>`).onclick = f },
    // Buttons of which one is pressed: an index.
    choice(key, label, names) {
      const row = add(`<div role="group" aria-label="${esc(label)}"><span class="dim">${esc(label)} </span>${names.map(n => `<button type="button">${esc(n)}</button>`).join('')}</div>`)
      const all = [...row.querySelectorAll('button')]
      all.forEach((b, i) => { b.onclick = () => put({[key]: i}, true) })
      fresh.push(() => all.forEach((b, i) => b.setAttribute('aria-pressed', i === model.get(key))))
    },
    // A button that counts a whole number up to its end; stepwise where motion is not wanted.
    play(key, last, pause) {
      const b = add('<button type="button">play</button>')
      const calm = matchMedia('(prefers-reduced-motion: reduce)').matches
      let clock = 0
      const stop = () => { clearInterval(clock); clock = 0; b.textContent = calm ? 'next' : 'play' }
      const next = () => {
        if (!box.isConnected || model.get(key) >= last) return stop()
        put({[key]: model.get(key) + 1}, calm)
      }
      b.onclick = () => {
        if (clock) return stop()
        if (model.get(key) >= last) put({[key]: 0})
        if (calm) return next()
        b.textContent = 'pause'
        clock = setInterval(next, pause)
      }
      stop()
    },
  }
}

// A table with a bar in each row: [name, number as text, share of the width, index of the colour, whether it stands out].
const bars = (head, rows) => `<table class="bars"><thead><tr>${head.map((h, i) => `<th${i ? ' colspan="2" style="text-align:left"' : ''}>${esc(h)}</th>`).join('')}</tr></thead>` +
  rows.map(([name, text, share, k, on, pale]) => `<tr class="${on ? 'on' : ''}"><th>${esc(name)}${on ? ' ◂' : ''}</th><td>${text}</td><td class="bar"><i style="width:${clamp(100*share, 0, 100).toFixed(1)}%;background:${ink(k)};opacity:${pale ? .35 : 1}"></i></td></tr>`).join('') + '</table>'

// with bounds
// The planner: rounds of each method against ϵ, with δ and the oracle's margin as sliders.
const METHODS = [
  ['OIAFC, Theorem 1', p => theorem1(p), p => theorem1(p, true)],
  ['OIAFC, Corollary 1', p => corollary1(p), p => corollary1(p, true)],
  ['OIAFB, budget', p => budget(p), p => budget(p, true)],
]
const LEAST = ['OIAFC, at least', p => p.K + nMin(p)]
const plans = p => ({least: LEAST[1](p), corrected: METHODS.map(m => m[1](p)), printed: METHODS.map(m => m[2](p))})

function render({model, el}) {
  const d = model.get('data'), most = 2*all(d), box = [58, 432, 262, 10]
  const c = loglog(box, [most/200, most], [1e2, 1e18], 'target ϵ', 'rounds')
  const s = stage({model, el}, {keys: ['eps', 'delta', 'margin'], W: 440, H: 300, label: 'Rounds that each method needs, against the target'})
  const now = eps => ({...d, eps: eps ?? model.get('eps'), delta: model.get('delta'), margin: model.get('margin')})
  s.handle({
    key: 'eps', label: 'target ϵ; arrow keys move it', step: 4, colour: () => 'currentColor',
    place: v => [c.X(v), box[2]], value: ([x]) => c.from(x), says: () => `ϵ ${model.get('eps').toPrecision(3)}`,
  })
  s.slider({key: 'eps', label: 'target ϵ', min: most/200, max: most, step: .005, log: true, show: v => v.toPrecision(3)})
  s.slider({key: 'delta', label: 'error probability δ', min: 1e-4, max: .5, step: .01, log: true, show: v => v.toPrecision(2)})
  s.slider({key: 'margin', label: 'margin of the oracle ε', min: d.B_S/1000, max: d.B_S, step: .01, log: true, show: v => v.toPrecision(3)})
  s.show(() => {
    const xs = c.xs(41), at = plans(now())
    const curve = (f, k, dashed) => draw(xs.map(e => [c.X(e), c.Y(f(now(e)))]), `fill="none" stroke="${k < 0 ? 'currentColor' : ink(k)}" stroke-width="2" ${dashed ? 'stroke-dasharray="5 4" opacity=".8"' : ''}`)
    const x = c.X(model.get('eps'))
    const mark = (v, k) => isFinite(v) ? spot(x, c.Y(v), 4, `fill="${k < 0 ? 'currentColor' : ink(k)}"`) : ''
    const drawn = c.frame + `<path class="thin" d="M${x.toFixed(1)} ${box[3]}V${box[2]}"/>` +
      METHODS.map((m, k) => curve(m[2], k, true) + curve(m[1], k)).join('') + curve(LEAST[1], -1) +
      METHODS.map((_, k) => mark(at.corrected[k], k)).join('') + mark(at.least, -1)
    const key = k => `<span style="color:${k < 0 ? 'inherit' : ink(k)}">━</span> `
    const row = (name, k, a, b) => `<tr><th>${key(k)}${name}</th><td><b>${big(a)}</b></td><td>${b === '' ? '' : big(b)}</td></tr>`
    s.box.dataset.rounds = at.corrected[0]
    return [drawn, `<table class="bars"><thead><tr><th>rounds</th><th>corrected</th><th>printed (dashed)</th></tr></thead>${METHODS.map((m, k) => row(m[0], k, at.corrected[k], at.printed[k])).join('')}${row(LEAST[0], -1, at.least, '')}</table>`]
  })
}

export default {render}

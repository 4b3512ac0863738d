// with bounds
// The trade-off of a constant share α of the oracle's rule: normal rounds, forced rounds, both. `part` is α as a part of ϵ/2B.
const shareOf = (p, part) => part*p.eps/(2*all(p))
function bestPart(p) {
  let low = 1e-3, high = .999
  for (let i = 0; i < 60; i++) {
    const a = low + .382*(high - low), b = low + .618*(high - low)
    if (constant(p, shareOf(p, a))[2] < constant(p, shareOf(p, b))[2]) high = b
    else low = a
  }
  return (low + high)/2
}

function render({model, el}) {
  const d = model.get('data'), [x0, x1, y0, y1] = [58, 432, 262, 10], most = 2*all(d), range = [1e2, 1e16]
  const s = stage({model, el}, {keys: ['part', 'eps', 'margin'], W: 440, H: 300, label: 'Rounds against the share of the oracle\'s rule'})
  const now = () => ({...d, eps: model.get('eps'), margin: model.get('margin')}), rounds = part => constant(now(), shareOf(now(), part))
  const X = part => x0 + part*(x1 - x0), {Y, ticks} = loglog([x0, x1, y0, y1], [1, 10], range, '', '')
  s.handle({
    key: 'part', label: 'share of the oracle\'s rule; arrow keys move it', step: 4, colour: () => 'currentColor',
    place: v => [X(v), Y(rounds(v)[2])], value: ([x]) => clamp((x - x0)/(x1 - x0), .01, .99),
    says: () => `share ${shareOf(now(), model.get('part')).toPrecision(2)}: at most ${big(rounds(model.get('part'))[2])} rounds`,
  })
  s.slider({key: 'eps', label: 'target ϵ', min: most/200, max: most, step: .005, log: true, show: v => v.toPrecision(3)})
  s.slider({key: 'margin', label: 'margin of the oracle', min: d.B_S/1000, max: d.B_S, step: .01, log: true, show: v => v.toPrecision(3)})
  s.button('Corollary 1: ϵ/4B', () => s.put({part: .5}, true))
  s.button('fewest rounds', () => s.put({part: bestPart(now())}, true))
  s.show(() => {
    const part = model.get('part'), p = now(), parts = Array.from({length: 60}, (_, i) => (i + .6)/60.2), seen = parts.map(rounds)
    const curve = (i, style) => draw(parts.map((a, n) => [X(a), Y(seen[n][i])]), `fill="none" ${style}`)
    const [t1, t2, t] = rounds(part), best = bestPart(p), reach = Math.log10(t)
    const drawn = axes([x0, x1, y0, y1], [0, .25, .5, .75, 1].map(a => [+shareOf(p, a).toPrecision(2), X(a)]), ticks, 'share α of the oracle\'s rule', 'rounds, at most') +
      curve(2, 'stroke="currentColor" stroke-width="5" opacity=".25"') + curve(0, `stroke="${ink(0)}" stroke-width="2"`) + curve(1, `stroke="${ink(3)}" stroke-width="2" stroke-dasharray="6 3"`) +
      star(X(best), Y(rounds(best)[2]), 'the fewest rounds')
    s.box.dataset.rounds = t
    return [drawn, `<p>With α = <b>${shareOf(p, part).toPrecision(3)}</b>, on the event:</p>` + bars(['', 'rounds, at most'], [
      ['τ₁, normal', big(t1), Math.log10(t1)/reach, 0], ['τ₂, forced (dashed)', big(t2), Math.log10(t2)/reach, 3]]) +
      `<p>together <output class="big">${big(t)}</output></p><p class="dim">${big(rounds(.5)[2])} with ϵ/4B, ${big(rounds(best)[2])} at best (the star)</p>`]
  })
}

export default {render}

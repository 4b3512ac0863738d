// with bounds
// The trade-off of a constant share α of the oracle's rule: normal rounds, forced rounds, both.
function bestShare(p) {
  let low = p.eps/(2*all(p))*1e-3, high = p.eps/(2*all(p))*(1 - 1e-9)
  for (let i = 0; i < 80; i++) {
    const a = low*(high/low)**.382, b = low*(high/low)**.618
    if (constant(p, a)[2] < constant(p, b)[2]) high = b
    else low = a
  }
  return (low*high)**.5
}

function render({model, el}) {
  const d = model.get('data'), box = [58, 432, 262, 10], most = 2*all(d)
  const s = stage({model, el}, {keys: ['part', 'eps'], W: 440, H: 300, label: 'Rounds against the share of the oracle\'s rule'})
  const now = () => ({...d, eps: model.get('eps')}), share = () => model.get('part')*model.get('eps')/most
  const chart = () => { const top = model.get('eps')/most; return loglog(box, [top/100, top], [10, 1e12], 'share α of the oracle\'s rule', 'rounds, at most') }
  s.handle({
    key: 'part', label: 'share of the oracle\'s rule; arrow keys move it', step: 4, colour: () => 'currentColor',
    place: v => { const c = chart(); return [c.X(v*model.get('eps')/most), c.Y(constant(now(), share())[2])] },
    value: ([x]) => Math.min(chart().from(x)/model.get('eps')*most, .999),
    says: () => `share ${share().toPrecision(2)}: at most ${big(constant(now(), share())[2])} rounds`,
  })
  s.slider({key: 'eps', label: 'target ε', min: most/200, max: most, step: .005, log: true, show: v => v.toPrecision(3)})
  s.button('Corollary 1: ε/4B', () => s.put({part: .5}, true))
  s.button('fewest rounds', () => s.put({part: bestShare(now())*most/model.get('eps')}, true))
  s.show(() => {
    const p = now(), c = chart(), xs = c.xs(61).map(a => Math.min(a, .999*p.eps/most)), rounds = xs.map(a => constant(p, a))
    const curve = (i, style) => draw(xs.map((a, n) => [c.X(a), c.Y(rounds[n][i])]), `fill="none" ${style}`)
    const [t1, t2, t] = constant(p, share()), best = bestShare(p)
    const drawn = c.frame + curve(2, 'stroke="currentColor" stroke-width="2.5" opacity=".5"') + curve(0, `stroke="${ink(0)}" stroke-width="2"`) + curve(1, `stroke="${ink(3)}" stroke-width="2" stroke-dasharray="6 3"`) +
      star(c.X(best), c.Y(constant(p, best)[2]), 'the fewest rounds')
    s.box.dataset.rounds = t
    return [drawn, `<p>With α = <b>${share().toPrecision(3)}</b>, on the event:</p>` + bars(['', 'rounds, at most'], [
      ['τ₁, normal', big(t1), Math.log10(t1)/12, 0], ['τ₂, forced', big(t2), Math.log10(t2)/12, 3]]) +
      `<p>together <output class="big">${big(t)}</output></p><p class="dim">${big(constant(p, p.eps/(2*most))[2])} with ε/4B, ${big(constant(p, best)[2])} at best (the star)</p>`]
  })
}

export default {render}

// with polygons
// UCB-LP in a plane of rules x P + y Q, x and y not negative, x + y at most 1; what arm k is paid is linear in (x, y).
const pays = (d, k, [x, y]) => d.V[k][0]*x + d.V[k][1]*y
// With estimates that are right, radii r and I_c = 2 B_S r: by how much k must beat j, at least.
const ask = (d, k, j, r) => d.costs[k] - d.costs[j] - 4*d.bound*r
function region(d, k, r) {
  let points = [[0, 0], [1, 0], [0, 1]]
  d.costs.forEach((_, j) => { if (j !== k && points.length) points = clip(points, [d.V[k][0] - d.V[j][0], d.V[k][1] - d.V[j][1], ask(d, k, j, r)]) })
  return points
}

// The optimistic rule of arm k in the plane and its profit, or null: v is the largest of these linear functions.
function optimistic(d, k, r) {
  const points = region(d, k, r)
  if (!points.length) return null
  const parts = d.costs.map((_, j) => [...d.V[j], j === k ? -d.bound*r : d.costs[k] - d.costs[j] - 3*d.bound*r])
  const v = ([x, y]) => Math.max(...parts.map(([a, b, c]) => a*x + b*y + c))
  const tried = [...points]
  const lines = []
  for (let i = 0; i < parts.length; i++) for (let j = 0; j < i; j++) lines.push([0, 1, 2].map(n => parts[i][n] - parts[j][n]))
  points.forEach((p, i) => {
    const q = points[(i + 1) % points.length]
    for (const [a, b, c] of lines) {
      const f = a*p[0] + b*p[1] + c, g = a*q[0] + b*q[1] + c
      if (f*g < 0) tried.push([0, 1].map(n => p[n] + (q[n] - p[n])*f/(f - g)))
    }
  })
  for (let i = 0; i < lines.length; i++) for (let j = 0; j < i; j++) {
    const [a, b, c] = lines[i], [e, f, g] = lines[j], D = a*f - b*e, x = [(b*g - c*f)/D, (c*e - a*g)/D]
    if (Math.abs(D) > 1e-12 && points.every((p, n) => { const q = points[(n + 1) % points.length]; return (q[0] - p[0])*(x[1] - p[1]) - (q[1] - p[1])*(x[0] - p[0]) >= -LEAST })) tried.push(x)
  }
  const best = tried.reduce((m, p) => v(p) < v(m) - LEAST || (v(p) < v(m) + LEAST && pays(d, k, p) < pays(d, k, m) - LEAST) ? p : m)
  return {rule: best, profit: d.u[k] + d.B_u*r - v(best)}
}

function render({model, el}) {
  const d = model.get('data'), [x0, x1, y0, y1] = [52, 432, 330, 10], X = x => x0 + x*(x1 - x0), Y = y => y0 - y*(y0 - y1)
  const s = stage({model, el}, {keys: ['arm', 'radius'], W: 440, H: y0 + 40, label: 'Rules that may induce an arm, as far as the principal knows'})
  s.choice('arm', 'arm', d.arms)
  s.slider({key: 'radius', label: 'radius of every estimate', min: 0, max: d.most, step: d.most/200, show: v => fix(v)})
  const at = ([x, y]) => [X(x), Y(y)], ticks = (f) => [0, .5, 1].map(t => [t, f(t)])
  s.show(() => {
    const k = model.get('arm'), r = model.get('radius'), wide = region(d, k, r), found = d.arms.map((_, j) => optimistic(d, j, r)), mine = found[k]
    const back = d.arms.map((name, j) => {
      const p = region(d, j, 0)
      return p.length > 2 ? draw(p.map(at), `fill="${ink(j)}" fill-opacity="${j === k ? .35 : .15}"`) + note(...at(middleOf(p)), name, middle + ' class="name"') : ''
    }).join('')
    const inflated = wide.length > 2 ? `<path d="${path(wide.map(at))}z" fill="${ink(k)}" fill-opacity=".18" stroke="${ink(k)}" stroke-width="2"/>` : ''
    const level = mine && draw(clip(clip([[0, 0], [1, 0], [0, 1]], [...d.V[k], pays(d, k, mine.rule)]), [-d.V[k][0], -d.V[k][1], -pays(d, k, mine.rule) - 1e-6]).map(at), 'class="thin"')
    const drawn = back + inflated + axes([x0, x1, y0, y1], ticks(X), ticks(Y), `share of ${d.rules[0]}`, `share of ${d.rules[1]}`) + (level || '') +
      (mine ? spot(...at(mine.rule), 7, `fill="${ink(k)}" stroke="#fff" stroke-width="2"`) : '')
    s.box.dataset.profit = mine ? mine.profit : ''
    const top = Math.max(...found.map(f => f ? f.profit : 0), ...d.profits)
    return [drawn, bars(['arm', 'could earn at most'], d.arms.map((name, j) => [name, found[j] ? fix(found[j].profit) : 'none', found[j] ? found[j].profit/top : 0, j, j === k])) +
      `<p class="dim">Truly: ${d.arms.map((name, j) => `${esc(name)} ${fix(d.profits[j])}`).join(', ')}.</p>` +
      `<p>${mine && pays(d, k, mine.rule) < 1e-6 ? 'For all that is known, the rule that pays nothing may do: no program has to be solved.' : 'The dot is the optimistic rule: the cheapest that may still make the expert choose this arm.'}</p>`]
  })
}

export default {render}

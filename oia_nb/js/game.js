// with common
// The game in one picture: a rule of two tickets is its kink (x, y), the belief x at which both tickets are worth y.
const TIE = 1e-9
const bets = ([x, y]) => [y/(1 - x), y/x]

// What each belief is paid under a rule with its kink at (x, 1); at (x, y) it is y times as much.
const unit = (beliefs, x) => beliefs.map(p => Math.max((1 - p)/(1 - x), p/x))

// Both profits under a kink: the agent's for each arm, the principal's for each arm, the arm that answers.
function game(d, [x, y]) {
  const s = unit(d.beliefs, x).map(w => w*y)
  const agent = d.q.map((q, k) => dot(q, s) - d.costs[k])
  const principal = d.q.map(q => dot(q, d.u) - dot(q, s))
  const top = Math.max(...agent)
  let arm = -1
  agent.forEach((g, k) => { if (g >= top - TIE && (arm < 0 || principal[k] > principal[arm])) arm = k })
  return {agent, principal, arm}
}

const within = (d, [x, y]) => {
  x = clamp(x, .02, .98)
  return [x, clamp(y, 0, Math.min(d.top, d.bound*x, d.bound*(1 - x)))]
}

// The arms that answer along a vertical line, from the bottom: [arm, from y, to y]. Payments grow in proportion to y.
function column(d, x) {
  const w = unit(d.beliefs, x), slope = d.q.map(q => dot(q, w)), limit = within(d, [x, d.top])[1], out = []
  let y = 0, arm = d.costs.reduce((b, c, k) => c < d.costs[b] || (c === d.costs[b] && slope[k] > slope[b]) ? k : b, 0)
  while (y < limit) {
    let to = limit, next = arm
    slope.forEach((m, k) => {
      const at = (d.costs[k] - d.costs[arm])/(m - slope[arm])
      if (m > slope[arm] + 1e-12 && at < to) { to = Math.max(at, y); next = k }
    })
    if (to > y) out.push([arm, y, to])
    if (next === arm) break
    y = to
    arm = next
  }
  return out
}

function render({model, el}) {
  const d = model.get('data'), K = d.arms.length, n = 120
  const [x0, x1, y0, y1] = [58, 432, 262, 10], X = x => x0 + x*(x1 - x0), Y = y => y0 - y/d.top*(y0 - y1)
  const s = stage({model, el}, {keys: ['kink'], W: 440, H: y0 + 44 + 17*K, label: 'Rules of two tickets by their kink: who answers, and both profits'})

  const cells = d.arms.map(() => []), centre = d.arms.map(() => [0, 0, 0])
  for (let i = 0; i < n; i++) {
    const x = .02 + .96*i/(n - 1)
    for (const [k, a, b] of column(d, x)) {
      cells[k].push([x, a, b])
      centre[k][0] += x*(b - a); centre[k][1] += (a + b)/2*(b - a); centre[k][2] += b - a
    }
  }
  // Neighbouring intervals of one arm are joined to an outline; a gap starts another.
  const outline = list => {
    const parts = []
    list.forEach((c, i) => {
      if (!i || c[0] - list[i - 1][0] > 1.5*.96/(n - 1)) parts.push([])
      parts.at(-1).push(c)
    })
    return parts.map(p => path([...p.map(([x, a]) => [X(x), Y(a)]), ...p.reverse().map(([x, , b]) => [X(x), Y(b)])]) + 'z').join('')
  }
  const total = centre.reduce((t, c) => t + c[2], 0)
  const back = cells.map((c, k) => `<path d="${outline(c)}" fill="${ink(k)}" fill-opacity=".25"/>`).join('') +
    centre.map(([x, y, a], k) => a > .03*total ? note(X(x/a), Y(y/a), d.arms[k], middle + ' class="name"') : '').join('') +
    axes([x0, x1, y0, y1], [0, .25, .5, .75, 1].map(x => [x, X(x)]), [0, .25, .5, .75, 1].map(y => [fix(y*d.top, d.digits), Y(y*d.top)]), `reported probability of ${d.states[1]}`, 'expected payment') +
    (d.best.kink ? star(X(d.best.kink[0]), Y(d.best.kink[1]), 'the best rule') : '')
  const row = (k, on) => `<g opacity="${on ? 1 : .35}">${note(x0 - 5, y0 + 52 + 17*k, d.arms[k], end + (d.arms[k].length > 8 ? ` textLength="${x0 - 6}" lengthAdjust="spacingAndGlyphs"` : '') + ' style="font-size:10px"')}` +
    d.q[k].map((p, i) => p > 0 ? spot(X(d.beliefs[i]), y0 + 48 + 17*k, (1.5 + 7*Math.sqrt(p)).toFixed(1), `fill="${ink(k)}"`) : '').join('') + '</g>'
  const ray = (xa, ya, xb, yb) => ya > d.top ? [[X(xb + (xa - xb)*(d.top - yb)/(ya - yb)), Y(d.top)], [X(xb), Y(yb)]] : [[X(xa), Y(ya)], [X(xb), Y(yb)]]
  const now = () => { const v = within(d, model.get('kink')); return [v, game(d, v)] }

  s.handle({
    key: 'kink', label: 'kink of the rule; arrow keys move it', step: 4, colour: () => ink(now()[1].arm),
    place: v => { const [x, y] = within(d, v); return [X(x), Y(y)] },
    value: ([a, b]) => within(d, [(a - x0)/(x1 - x0), (y0 - b)/(y0 - y1)*d.top]),
    says: () => { const [[x, y], r] = now(); return `belief ${fix(x, 2)}, worth ${fix(y)}: ${d.arms[r.arm]} answers, profit ${fix(r.principal[r.arm])}` },
  })
  if (d.best.kink) s.button('the best rule', () => s.put({kink: d.best.kink}, true))
  s.button('start again', () => s.put({kink: s.start.kink}, true))

  s.show(() => {
    const [[x, y], r] = now(), [a, b] = bets([x, y]), h = r.principal[r.arm], worth = dot(d.q[r.arm], d.u), lost = d.best.profit - h
    s.box.dataset.arm = d.arms[r.arm]
    s.box.dataset.profit = h
    const drawn = back + d.arms.map((_, k) => row(k, k === r.arm)).join('') +
      draw([[X(x), Y(y)], [X(1), Y(0)]], 'class="thin"') + draw([[X(x), Y(y)], [X(0), Y(0)]], 'class="thin"') +
      draw(ray(0, a, x, y), 'class="line"') + draw(ray(1, b, x, y), 'class="line"')
    const reach = Math.max(1e-9, ...r.agent.map(Math.abs))
    const said = `<p>Bet on ${esc(d.states[0])}: pays <b>${fix(a)}</b>. Bet on ${esc(d.states[1])}: pays <b>${fix(b)}</b>.</p>` +
      bars(['method', 'the expert would earn'], d.arms.map((name, k) => [name, fix(r.agent[k], 4), Math.abs(r.agent[k])/reach, k, k === r.arm, r.agent[k] < 0])) +
      `<p>The principal's profit<br><output class="big">${fix(h, 4)}</output></p><p class="dim">${fix(worth)} from decisions, ${fix(worth - h)} paid; ${lost < 5e-4 ? 'no rule earns more' : fix(lost, 4) + ' less than the best rule'}</p>`
    return [drawn, said]
  })
}

export default {render}

// with common
// A run of OIAFC with three arms. What an arm is paid more than the first one decides who answers: two numbers a rule.
function answering(d, [x, y]) {
  const g = [0, x - d.corner[0], y - d.corner[1]]
  return g.indexOf(Math.max(...g))
}

// The points announced from one plan on: the planned rule, then the bisection towards the oracle's.
function announced(d, [, k, x, y, share, answers]) {
  const goal = d.oracle[k], first = [0, 1].map(i => share*goal[i] + (1 - share)*[x, y][i])
  let low = 0, high = 1
  return [...answers].map((c, n) => {
    const at = n ? (low + high)/2 : 0, arm = +c
    if (n) { if (arm === k) high = at; else low = at }
    return [...[0, 1].map(i => (1 - at)*first[i] + at*goal[i]), arm]
  })
}

function render({model, el}) {
  const d = model.get('data'), [x0, x1, y0, y1] = [52, 432, 330, 10], [[xa, xb], [ya, yb]] = d.range
  const X = x => x0 + (x - xa)/(xb - xa)*(x1 - x0), Y = y => y0 - (y - ya)/(yb - ya)*(y0 - y1), at = ([x, y]) => [X(x), Y(y)], last = d.plans.length - 1
  const s = stage({model, el}, {keys: ['step'], W: 440, H: y0 + 40, label: 'A run of OIAFC: plans, answers, searches'})
  s.slider({key: 'step', label: 'plan', min: 0, max: last, step: 1, show: v => `${v + 1}, in round ${d.plans[v][0]}`})
  s.play('step', last, 700)
  const [cx, cy] = d.corner, slant = Math.min(xb - cx, yb - cy)
  const outlines = [[[xa, ya], [cx, ya], [cx, cy], [xa, cy]], [[cx, ya], [xb, ya], [xb, cy + xb - cx], [cx + slant, cy + slant], [cx, cy]], [[xa, cy], [cx, cy], [cx + slant, cy + slant], [cx + yb - cy, yb], [xa, yb]]]
  const inside = p => [clamp(p[0], xa, xb), clamp(p[1], ya, yb)]
  const back = outlines.map((o, k) => draw(o.map(inside).map(at), `fill="${ink(k)}" fill-opacity=".2"`)).join('') +
    `<path d="${path(d.oracle.map(at))}z" class="thin"/>` +
    d.oracle.map((p, k) => spot(...at(p), 5, `fill="${ink(k)}"`) + note(X(p[0]), Y(p[1]) - 9, d.arms[k], middle + ' class="name"')).join('') +
    star(...at(d.best), 'the best rule') +
    axes([x0, x1, y0, y1], [xa, xb].map(x => [fix(x, 1), X(x)]), [ya, yb].map(y => [fix(y, 1), Y(y)]), `${d.arms[1]} is paid more than ${d.arms[0]} by`, `${d.arms[2]} is paid more than ${d.arms[0]} by`)
  s.show(() => {
    const step = model.get('step'), plan = d.plans[step], [t, k, x, y, share, answers, box, profits] = plan, points = announced(d, plan)
    const [a, ra, b, rb] = box, rect = [[a - ra, b - rb], [a + ra, b - rb], [a + ra, b + rb], [a - ra, b + rb]].map(inside)
    const old = d.plans.slice(Math.max(0, step - 12), step).map(f => announced(d, f).map(p => spot(...at(p), 2, `fill="${ink(p[2])}" opacity=".5"`)).join('')).join('')
    const drawn = back + `<path d="${path(rect.map(at))}z" fill="currentColor" fill-opacity=".08" stroke="currentColor" stroke-opacity=".6"/>` + old +
      draw([at([x, y]), at(d.oracle[k])], `stroke="${ink(k)}" stroke-width="1.5" fill="none"`) +
      `<rect x="${(X(x) - 5).toFixed(1)}" y="${(Y(y) - 5).toFixed(1)}" width="10" height="10" fill="none" stroke="${ink(k)}" stroke-width="2.5"/>` +
      points.map((p, n) => spot(...at(p), n ? 4 : 7, `fill="${ink(p[2])}" stroke="currentColor"`)).join('')
    const first = +answers[0], top = Math.max(.01, ...profits.map(Math.abs))
    s.box.dataset.arm = d.arms[first]
    return [drawn, `<p>The plan is for <b>${esc(d.arms[k])}</b>; ${(100*share).toFixed(0)} % of the oracle's rule is mixed in. The answer: <b>${esc(d.arms[first])}</b>${first === k ? ', as hoped.' : `, so a search of ${answers.length - 1} rounds follows.`}</p>` +
      bars(['arm', 'could earn at most'], d.arms.map((name, j) => [name, fix(profits[j], 2), Math.abs(profits[j])/top, j, j === k, profits[j] < 0])) +
      '<p class="dim">Square: the optimistic rule. Large dot: the rule announced; small dots: the search; the colour says who answered. Grey box: where the corner of the three regions may be, for all that was seen.</p>']
  })
}

export default {render}

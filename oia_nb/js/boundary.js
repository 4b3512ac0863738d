// with polygons
// A run of a learner with two arms and three beliefs: the rules asked, in a plane, and the boundaries that agree with all answers so far.
// A boundary is the line a x + b y = 1; each answer cuts the polygon of the (a, b).
function consistent(d, i) {
  const far = d.far
  let points = [[-far, -far], [far, -far], [far, far], [-far, far]]
  d.asked.slice(0, i + 1).forEach(([x, y, arm]) => { points = arm === d.dear ? clip(points, [x, y, 1 - d.wider]) : clip(points, [-x, -y, -1 - d.wider]) })
  return points
}
// How far along the ray through a rule the boundary is: from where it may be crossed to where it must be, in units of the rule; null if never.
function bracket(d, i, p) {
  const values = consistent(d, i).map(v => dot(v, p)), reach = x => x > LEAST ? 1/x : null
  return [reach(Math.max(...values)), reach(Math.min(...values))]
}
// The part of the frame where an arm is known to answer.
function surely(d, i, arm, frame) {
  return consistent(d, i).reduce((points, [a, b]) => arm === d.dear ? clip(points, [a, b, 1]) : clip(points, [-a, -b, -1]), frame)
}

function render({model, el}) {
  const d = model.get('data'), last = d.asked.length - 1, [[xa, xb], [ya, yb]] = d.range, [x0, x1, y0, y1] = [58, 432, 330, 10]
  const X = x => x0 + (x - xa)/(xb - xa)*(x1 - x0), Y = y => y0 - (y - ya)/(yb - ya)*(y0 - y1), at = ([x, y]) => [X(x), Y(y)]
  const frame = [[xa, ya], [xb, ya], [xb, yb], [xa, yb]], inside = ([x, y]) => x >= xa && x <= xb && y >= ya && y <= yb
  const s = stage({model, el}, {keys: ['frame'], W: 440, H: y0 + 40, label: 'The boundary between two arms closes in, question by question'})
  s.slider({key: 'frame', label: 'rule asked', min: 0, max: last, step: 1, show: i => `${i + 1} of ${last + 1}`})
  s.play('frame', last, 500)
  const cheap = 1 - d.dear, ticks = ([lo, hi], f) => [lo, (lo + hi)/2, hi].map(t => [fix(t, 2), f(t)])
  // the part of the line a x + b y = c that is in the frame
  const line = ([a, b], more) => { const p = clip(clip(frame, [a, b, 1 - 1e-7]), [-a, -b, -1 - 1e-7]); return p.length > 1 ? draw(p.map(at), more) : '' }
  const segment = ([x, y], t, u, more) => {
    const p = [[1, 0, xa], [-1, 0, -xb], [0, 1, ya], [0, -1, -yb]].reduce((q, h) => clip(q, h), [[t*x, t*y], [u*x, u*y]])
    return p.length > 1 ? draw(p.map(at), more) : ''
  }
  s.show(() => {
    const i = model.get('frame'), now = d.asked[i], p = now.slice(0, 2), lines = consistent(d, i)
    const fills = [cheap, d.dear].map(k => { const q = surely(d, i, k, frame); return q.length > 2 ? draw(q.map(at), `fill="${ink(k)}" fill-opacity=".22"`) + note(...at(middleOf(q)), d.arms[k], middle + ' class="name"') : '' }).join('')
    const [near, far] = bracket(d, i, p), long = 4*Math.hypot(xb - xa, yb - ya)/(Math.hypot(...p) || 1), moved = Math.hypot(...p) > 0
    const ray = moved ? segment(p, 0, long, 'class="thin"') + (near === null ? '' : segment(p, near, Math.min(far ?? long, long), 'class="line" style="stroke-width:5"')) : ''
    const dots = d.asked.slice(0, i + 1).map(([x, y, k], n) => inside([x, y]) ? spot(...at([x, y]), n === i ? 7 : 3.5, `fill="${ink(k)}" stroke="${n === i ? 'currentColor' : '#fff'}" stroke-width="${n === i ? 2 : .7}"`) : '').join('')
    const drawn = fills + lines.map(v => line(v, 'class="thin"')).join('') + line(d.truth, 'stroke="currentColor" stroke-width="1.5" fill="none"') + ray + dots +
      axes([x0, x1, y0, y1], ticks(d.range[0], X), ticks(d.range[1], Y), d.labels[0], d.labels[1])
    const counts = d.counts[i], most = Math.max(1, ...counts)
    s.box.dataset.round = d.rounds[i]
    const where = !moved ? 'This rule pays nothing.' : near === null ? 'Along its ray the boundary may never come.' : `Along its ray the boundary is between ${fix(near, 3)} and ${far === null ? 'infinity' : fix(far, 3)} times this rule.`
    return [drawn, bars(['arm', 'answers so far'], d.arms.map((name, k) => [name, counts[k], counts[k]/most, k, k === now[2]])) +
      `<p>Round ${d.rounds[i]}: ${esc(d.arms[now[2]])} answers. ${where}</p><p>The rule found loses at most<br><output class="big">${d.bounds[i] === null ? 'nothing proved yet' : fix(d.bounds[i])}</output></p>` +
      `<p class="dim">target ${d.eps}; coloured: where the answer is known; solid line: the true boundary; dashed: extreme ones that agree with all answers; thick: the bracket.</p>`]
  })
}

export default {render}

// with polygons
// A rule over three states: the triangle of beliefs, cut by which ticket a belief takes; one belief can be dragged.
const SIDE = 380, CORNERS = [[30, 350], [30 + SIDE, 350], [30 + SIDE/2, 350 - SIDE*Math.sqrt(3)/2]]
const place = b => [0, 1].map(i => CORNERS.reduce((s, c, w) => s + b[w]*c[i], 0))
const ticketOf = (d, b) => d.tickets.reduce((m, t, i) => dot(b, t) > dot(b, d.tickets[m]) + 1e-12 ? i : m, 0)

// The belief at a point of the picture; outside of the triangle, one on its edge.
function beliefAt([x, y]) {
  const third = (350 - y)/(SIDE*Math.sqrt(3)/2), second = (x - 30)/SIDE - third/2
  const b = [1 - second - third, second, third].map(v => Math.max(v, 0)), sum = b[0] + b[1] + b[2]
  return b.map(v => v/sum)
}

// Where a ticket is the best one: in coordinates (second, third state's probability).
function territory(d, i) {
  let points = [[0, 0], [1, 0], [0, 1]]
  const [a, b, c] = d.tickets[i]
  d.tickets.forEach(([e, f, g], j) => { if (j !== i && points.length) points = clip(points, [b - a - f + e, c - a - g + e, e - a]) })
  return points
}
const decide = (d, b) => {
  const worth = d.decisions.map((_, k) => b.reduce((s, p, w) => s + p*d.utility[w][k], 0))
  return worth.indexOf(Math.max(...worth))
}

function render({model, el}) {
  const d = model.get('data')
  const s = stage({model, el}, {keys: ['belief', 'arm'], W: 440, H: 380, label: 'Beliefs over three states, and the ticket that each takes'})
  s.choice('arm', 'beliefs after', d.arms)
  s.handle({
    key: 'belief', label: 'a belief; arrow keys move it', step: 4, colour: () => ink(ticketOf(d, model.get('belief'))),
    place, value: beliefAt, says: () => model.get('belief').map((p, w) => `${d.states[w]} ${Math.round(100*p)} %`).join(', '),
  })
  const lands = d.tickets.map((_, i) => territory(d, i).map(([b, c]) => place([1 - b - c, b, c])))
  const back = lands.map((p, i) => p.length > 2 ? `<path d="${path(p)}z" fill="${ink(i)}" fill-opacity=".25"/>` + note(...middleOf(p), `ticket ${d.names[i]}`, middle + ' class="name"') : '').join('') +
    `<path class="axis" d="${path(CORNERS)}z"/>` + CORNERS.map(([x, y], w) => note(x, w === 2 ? y - 8 : y + 18, d.states[w], middle)).join('')
  s.show(() => {
    const b = model.get('belief'), i = ticketOf(d, b), k = model.get('arm'), t = d.tickets[i], choice = decide(d, b)
    const dots = d.q[k].map((p, n) => p > 0 ? spot(...place(d.beliefs[n]), (2 + 9*Math.sqrt(p)).toFixed(1), `fill="${ink(ticketOf(d, d.beliefs[n]))}" stroke="currentColor" stroke-width=".8"`) : '').join('')
    s.box.dataset.ticket = d.names[i]
    return [back + dots, `<p>Who believes this takes <b>ticket ${esc(d.names[i])}</b>:</p>` +
      `<table class="bars"><thead><tr><th>if it is</th><th>believed</th><th>pays</th></tr></thead>${d.states.map((w, n) => `<tr><th>${esc(w)}</th><td>${(100*b[n]).toFixed(0)} %</td><td>${fix(t[n])}</td></tr>`).join('')}</table>` +
      `<p>expected payment<br><output class="big">${fix(dot(b, t), 4)}</output></p><p>The principal would decide: <b>${esc(d.decisions[choice])}</b>.</p>` +
      `<p class="dim">Dots: the beliefs that ${esc(d.arms[k])} leads to, larger if they are more likely.</p>`]
  })
}

export default {render}

// with common
// A run of a learner: what it expects of each arm, and what is proved of the best rule found so far, round by round.
function atFrame(d, i) {
  const top = Math.max(...d.profits[i])
  return {top, leader: d.profits[i].indexOf(top), bound: d.bounds[i], counts: d.counts[i]}
}

function render({model, el}) {
  const d = model.get('data'), last = d.rounds.length - 1, [x0, x1, y0, y1] = [58, 432, 262, 10], [low, high] = d.range
  const s = stage({model, el}, {keys: ['frame'], W: 440, H: 300, label: 'What is proved in a run, round by round'})
  const X = t => x0 + Math.log(t/d.rounds[0])/(Math.log(d.rounds[last]/d.rounds[0]) || 1)*(x1 - x0), Y = y => clamp(y0 - (y - low)/(high - low)*(y0 - y1), y1, y0)
  s.handle({
    key: 'frame', label: 'round; arrow keys move it', nudge: (i, by) => clamp(i + by, 0, last), colour: () => 'currentColor',
    place: i => [X(d.rounds[i]), y0], value: ([x]) => d.rounds.reduce((m, t, i) => Math.abs(X(t) - x) < Math.abs(X(d.rounds[m]) - x) ? i : m, 0),
    says: () => `round ${d.rounds[model.get('frame')]}`,
  })
  s.slider({key: 'frame', label: 'round', min: 0, max: last, step: 1, show: i => d.rounds[i]})
  s.play('frame', last, 250)
  const ends = [0, 1].map(e => d.rounds[e*last]), levels = [low, (low + high)/2, high]
  s.show(() => {
    const i = model.get('frame'), now = atFrame(d, i), x = X(d.rounds[i])
    const drawn = axes([x0, x1, y0, y1], ends.map(t => [t, X(t)]), levels.map(y => [fix(y, 2), Y(y)]), 'round', 'profit') +
      d.arms.map((_, k) => draw(d.rounds.map((t, n) => [X(t), Y(d.profits[n][k])]), `stroke="${ink(k)}" stroke-width="2" fill="none"`)).join('') +
      d.truth.map((h, k) => h === null ? '' : `<path d="M${x0} ${Y(h).toFixed(1)}H${x1}" stroke="${ink(k)}" stroke-dasharray="3 4" fill="none"/>`).join('') +
      `<path class="thin" d="M${x.toFixed(1)} ${y1}V${y0}"/>` + d.arms.map((_, k) => spot(x, Y(d.profits[i][k]), 4, `fill="${ink(k)}"`)).join('')
    const most = Math.max(1, ...now.counts)
    s.box.dataset.round = d.rounds[i]
    return [drawn, bars(['arm', 'answers so far'], d.arms.map((name, k) => [name, now.counts[k], now.counts[k]/most, k, k === now.leader])) +
      `<p>The rule found loses at most<br><output class="big">${now.bound === null ? 'nothing proved yet' : fix(now.bound)}</output></p><p class="dim">target ${d.eps}; lines: what the learner expects of the best rule of each arm, at most so much if it is an optimist; dashed: what that rule earns.</p>`]
  })
}

export default {render}

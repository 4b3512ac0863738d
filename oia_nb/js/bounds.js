// with common
// The bounds of the chapter on complexity, for a problem p = {K, M, B_S, B_u, eps, delta, margin, gaps}.
const all = p => p.B_S + p.B_u, R = p => (p.B_S/p.margin)**2, ln = Math.log
const hEps = p => 4*all(p)**2*p.K/p.eps**2
function others(p) {
  const g = p.gaps ? p.gaps.map(x => x ?? Infinity) : Array(p.K).fill(0)
  g.splice(g.indexOf(Math.min(...g)), 1)
  return g
}
const hDelta = p => 4*all(p)**2*others(p).reduce((s, g) => s + g**-2, p.eps**-2)
const lambda = (p, t, printed) => ln(4*p.K/p.delta) + p.M*(printed ? 1 : Math.LN2) + 2*ln(t)
const C_EPS = (2*2**.5 + 2/Math.LN2**.5)**2, C_GAP = 43.7, C_OLD = 96 + 48*2**.5

function nMin(p) {
  const x = p.eps/(2*all(p)), m = p.M**.5
  let n = 0
  for (;;) {
    const r = (2*lambda(p, p.K + Math.max(n, 1)))**.5
    const y = (m + r + Math.max(0, (m + r)**2 - 4*x*r*m)**.5)/(2*x), next = Math.ceil(y*y*(1 - 1e-12))
    if (next <= n) return n
    n = next
  }
}
const depth = (L, t) => 2 + Math.log2(Math.max(1, t/(2*L)))/2
const searches = (p, L, inverse) => (p.K - 1)*Math.ceil(128*R(p)*L*inverse) + p.K*(p.K - 1)/2 + p.K*Math.ceil(8*R(p)*L)
function fixedPoint(F, t = 4) {
  while (F(t) > t) t *= 2
  for (;;) {
    const next = Math.max(F(t), 4)
    if (!(next < t*(1 - 1e-12))) return t
    t = next
  }
}
function theorem1(p, printed) {
  if (printed) {
    const H = hDelta(p)
    if (!isFinite(H)) return Infinity
    return fixedPoint(t => { const L = lambda(p, t, true); return (C_OLD*H*L + 1)*(1 + 288*R(p)*Math.log2(t)/p.M*L) })
  }
  const per = others(p).reduce((s, g) => s + Math.min(C_GAP/g**2, C_EPS/p.eps**2), C_EPS/p.eps**2)
  return fixedPoint(t => {
    const L = lambda(p, t), inverse = Math.max(1, (1 + C_EPS*all(p)**2*L/p.eps**2)/p.M)
    return p.K + 1 + L*all(p)**2*per + depth(L, t)*searches(p, L, inverse)
  })
}
// With a constant share of the oracle's rule: normal rounds, forced rounds, and all of them.
const tau1 = (p, share, t) => 1 + 8*p.K*(1 - share)**2*all(p)**2*lambda(p, t)/(p.eps - 2*share*all(p))**2
const tau2 = (p, share, t) => depth(lambda(p, t), t)*searches(p, lambda(p, t), share**-2)
function constant(p, share) {
  if (!(2*share*all(p) < p.eps)) return [Infinity, Infinity, Infinity]
  const t = fixedPoint(t => p.K + tau1(p, share, t) + tau2(p, share, t))
  return [tau1(p, share, t), tau2(p, share, t), t]
}
function corollary1(p, printed) {
  if (!printed) return constant(p, p.eps/(4*all(p)))[2]
  return fixedPoint(t => { const L = lambda(p, t, true); return 4*hEps(p)*L + p.K + 1152*hEps(p)*R(p)*Math.log2(t)*L })
}
function theorem2Need(p, T, a) {
  const s = p.eps/(4*all(p)), pairs = ((1 - s)*(8 - 2*s)/s)**2*R(p)*a
  const count = (p.K - 1)*(Math.ceil(pairs) - 1) + p.K*(p.K - 1)/2 + p.K*Math.ceil(4*(1 - s)**2*R(p)*a) + 1
  return p.K + 4*(1 - s)**2*hEps(p)*a + depth(a/2, T)*count
}
function budget(p, printed) {
  if (printed) {
    const size = hEps(p)*Math.max(R(p), 1), G = (1152*size*(p.M + (p.K/p.delta)**.5) + p.K)**2
    return Math.ceil(p.K + Math.log2(G)*288*size*(p.M + ln(G*p.K/p.delta)))
  }
  let T = 0, enough = p.K
  while (T < enough) {
    T = enough
    enough = Math.ceil(theorem2Need(p, T, 2*(ln(T*p.K/p.delta) + p.M*Math.LN2)))
  }
  return T
}

// A chart with two logarithmic axes in the box [x0, x1, y0, y1] of pixels.
function loglog([x0, x1, y0, y1], [xa, xb], [ya, yb], xlabel, ylabel) {
  const place = (v, a, b, p, q) => p + (Math.log10(v) - Math.log10(a))/(Math.log10(b) - Math.log10(a))*(q - p)
  const X = x => place(x, xa, xb, x0, x1), Y = y => clamp(place(y, ya, yb, y0, y1), y1, y0)
  const powers = (a, b, f, gap) => {
    const out = [], first = Math.ceil(Math.log10(a) - 1e-9), last = Math.floor(Math.log10(b) + 1e-9)
    for (let e = first; e <= last; e += Math.ceil((last - first + 1)/gap)) out.push([e < -3 || e > 4 ? '10' + sup(e) : String(+(10**e).toFixed(4)), f(10**e)])
    return out
  }
  return {X, Y, ticks: powers(ya, yb, Y, 7), xs: n => Array.from({length: n}, (_, i) => xa*(xb/xa)**(i/(n - 1))),
    from: x => xa*(xb/xa)**clamp((x - x0)/(x1 - x0), 0, 1),
    frame: axes([x0, x1, y0, y1], powers(xa, xb, X, 5), powers(ya, yb, Y, 7), xlabel, ylabel)}
}

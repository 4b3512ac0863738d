// with common
// Polygons as lists of corners.
const LEAST = 1e-9

// The part of a polygon where a x + b y >= c.
function clip(points, [a, b, c]) {
  const out = []
  points.forEach((p, i) => {
    const q = points[(i + 1) % points.length], f = a*p[0] + b*p[1] - c, g = a*q[0] + b*q[1] - c
    if (f >= -LEAST) out.push(p)
    if ((f < -LEAST && g > LEAST) || (f > LEAST && g < -LEAST)) out.push([0, 1].map(j => p[j] + (q[j] - p[j])*f/(f - g)))
  })
  return out
}
const middleOf = points => [0, 1].map(n => points.reduce((t, p) => t + p[n], 0)/points.length)

// What the search of the site finds first: a title, a statement or a subject by its name, then
// chapters by their words; the API comes last.  Sphinx reads this before its own script.
var Scorer = {
  objNameMatch: 3,
  objPartialMatch: 1,
  objPrio: {0: 0, 1: 0, 2: -1},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([page, title, anchor, description, score, file, kind]) =>
    (kind === 'title' ? 6*score : score)
      - (page.startsWith('api') ? 4 : 0)
      + (page.startsWith('paper/00') ? 2 : page.startsWith('paper/') ? 1 : page === 'glossary' ? -1 : 0),
}

// Words that only say that a question is asked.
const ASKING = ('a about am an and any are be can could do does for get have how i if in is it many me much my need needs of on one '
  + 'or should take takes tell that the there this to use we what when where which who why will with would you your').split(' ')

// Below a hit, what its page says of itself; pages.py writes SUBTITLES above these lines.
const explain = hits => hits.querySelectorAll('li:not(.explained)').forEach(hit => {
  const link = hit.querySelector('a')
  if (!link) return
  hit.classList.add('explained')
  const root = document.documentElement.dataset.content_root
  const page = new URL(link.href).pathname.slice(new URL(root, location).pathname.length).replace(/\.html$/, '')
  if (SUBTITLES[page]) link.insertAdjacentHTML('afterend', '<p class="subtitle"></p>')
  if (SUBTITLES[page]) link.nextElementSibling.textContent = SUBTITLES[page]
})

// What is asked for, once Search is defined and before it has its index.
queueMicrotask(() => {
  const parse = Search._parseQuery
  Search._parseQuery = query => {
    const words = query.replace(/\?/g, ' ').split(/\s+/).filter(word => word)
    const telling = words.filter(word => !ASKING.includes(word.toLowerCase()))
    return parse((telling.length ? telling : words).join(' '))
  }
})

// An excerpt shows prose, and each formula once.
window.addEventListener('DOMContentLoaded', () => {
  const hits = document.getElementById('search-results')
  if (hits) new MutationObserver(() => explain(hits)).observe(hits, {childList: true, subtree: true})
  const all = Search.htmlToText
  Search.htmlToText = (text, anchor) => {
    const page = new DOMParser().parseFromString(text, 'text/html')
    const unread = '.katex-html, annotation, .cell_input, .highlight, .notebook'
    page.querySelectorAll(unread).forEach(e => e.remove())
    return all(page.documentElement.outerHTML, anchor)
  }
})

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
      + (page.startsWith('paper/') ? 1 : page === 'glossary' ? -1 : 0),
}

// An excerpt shows prose, and each formula once.
window.addEventListener('DOMContentLoaded', () => {
  const all = Search.htmlToText
  Search.htmlToText = (text, anchor) => {
    const page = new DOMParser().parseFromString(text, 'text/html')
    const unread = '.katex-html, annotation, .cell_input, .highlight, .notebook'
    page.querySelectorAll(unread).forEach(e => e.remove())
    return all(page.documentElement.outerHTML, anchor)
  }
})

// The sidebar shows where the reader is.
window.addEventListener('DOMContentLoaded', () => {
  const column = document.querySelector('.sidebar-scroll')
  const here = column?.querySelector('.current-page')
  if (here) column.scrollTop = here.offsetTop - column.clientHeight/2
})

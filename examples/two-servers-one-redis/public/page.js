/**
 * @typedef {{ number: number, server: string, state: string, position: number | null }} Visitor
 * @typedef {{ name: string, url: string | null, pid: number | null }} Server
 * @typedef {{ concurrency: number, running: number | null, waiting: number | null, instances: number | null }} Line
 * @typedef {{ redis: string, servers: Server[], line: Line | null, visitors: Visitor[] }} State
 */

const serverTemplate = /** @type {HTMLTemplateElement} */ (byId('server'))

byId('more').addEventListener('click', () => void fetch('/visitors', { method: 'POST' }))

new EventSource('/events').addEventListener('message', ({ data }) => show(JSON.parse(data)))

/** @param {State} state */
function show({ redis, servers, line, visitors }) {
  byId('counts').textContent =
    line === null
      ? 'No server is alive.'
      : `${line.running ?? '?'} of ${line.concurrency} places taken, ${line.waiting ?? '?'} waiting, in ${redis}`
  for (const server of servers) showServer(server, visitors)
  /** @param {string[]} states */
  const inState = (...states) => visitors.filter(({ state }) => states.includes(state))
  const waiting = inState('asking', 'waiting').toSorted((a, b) => (a.position ?? Infinity) - (b.position ?? Infinity))
  showVisitors('line', waiting, ({ number, server }) => `${number} at ${server}`)
  const ended = inState('served', 'refused', 'broken')
  showVisitors('ended', ended, ({ number, server, state }) =>
    state === 'broken' ? `${number}: lost with ${server}` : `${number}: ${state} by ${server}`,
  )
}

/** @param {Server} server @param {Visitor[]} visitors */
function showServer({ name, url, pid }, visitors) {
  const id = `server-${name}`
  const article = document.getElementById(id) ?? addServer(id, name)
  article.classList.toggle('dead', url === null)
  partOf(article, '.address').textContent = url === null ? 'dead' : `${url}, process ${pid}`
  partOf(article, 'button').textContent = url === null ? `Start ${name} again` : `Kill ${name}`
  const running = visitors.filter(({ server, state }) => server === name && state === 'running')
  showVisitors(partOf(article, '.running'), running, ({ number }) => `working for ${number}`)
}

/** @param {string} id @param {string} name */
function addServer(id, name) {
  const clone = /** @type {DocumentFragment} */ (serverTemplate.content.cloneNode(true))
  const article = partOf(clone, 'article')
  article.id = id
  article.dataset['server'] = name
  partOf(article, 'h2').textContent = `Server ${name}`
  partOf(article, 'button').addEventListener('click', () => {
    const method = article.classList.contains('dead') ? 'PUT' : 'DELETE'
    void fetch(`/servers/${encodeURIComponent(name)}`, { method })
  })
  byId('servers').append(article)
  return article
}

/** @param {string | HTMLElement} list @param {Visitor[]} visitors @param {(visitor: Visitor) => string} describe */
function showVisitors(list, visitors, describe) {
  const items = visitors.map((visitor) => {
    const item = document.createElement('li')
    item.dataset['server'] = visitor.server
    item.dataset['state'] = visitor.state
    item.textContent = describe(visitor)
    return item
  })
  const element = typeof list === 'string' ? byId(list) : list
  element.replaceChildren(...items)
}

/** @param {string} id */
function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id))
}

/** @param {ParentNode} parent @param {string} selector */
function partOf(parent, selector) {
  return /** @type {HTMLElement} */ (parent.querySelector(selector))
}

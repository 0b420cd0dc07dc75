import { Card } from './card.js'
import { postForEvents } from './events.js'
import { twentyQuestions } from './questions.js'
import { watchStatus } from './status.js'

const form = /** @type {HTMLFormElement} */ (document.getElementById('ask'))
const input = /** @type {HTMLInputElement} */ (document.getElementById('question'))
const twenty = /** @type {HTMLButtonElement} */ (document.getElementById('twenty'))
const hint = /** @type {HTMLElement} */ (document.getElementById('hint'))
const cards = /** @type {HTMLOListElement} */ (document.getElementById('cards'))

/** Over HTTP/1.1 a browser opens six connections to one site; one is left for the counts. */
const MOST_CONNECTIONS = 5

/** What is under way: one entry for each connection.
 * @type {Set<AbortController>} */
const open = new Set()

form.addEventListener('submit', (event) => {
  event.preventDefault()
  if (!input.reportValidity()) return
  void ask(input.value)
  input.value = ''
})
twenty.addEventListener('click', () => void askAll(twentyQuestions))

// Whoever leaves gives all their places back, also when the browser keeps the page for coming back.
addEventListener('pagehide', () => {
  for (const connection of open) connection.abort()
})

watchStatus()

/** @param {string} question */
async function ask(question) {
  await connect(async (connection) => {
    const card = new Card(question, () => connection.abort())
    cards.prepend(card.element)
    await read('/ask', { question }, connection, [card], (event) => card.show(event))
  })
}

/**
 * Twenty cards, one connection: the server plays the twenty visitors.
 * @param {string[]} questions
 */
async function askAll(questions) {
  await connect(async (connection) => {
    /** @type {string[]} */
    let ids = []
    const crowd = questions.map((question, i) => new Card(question, () => void leave(ids[i])))
    cards.prepend(...crowd.map(({ element }) => element))
    await read('/visitors', { questions }, connection, crowd, ({ event, data }) => {
      const message = JSON.parse(data)
      if (event === 'arrived') ids = message.ids
      if (event === 'visitor') crowd[ids.indexOf(message.id)]?.show(message)
    })
  })
}

/** @param {string | undefined} id */
async function leave(id) {
  if (id !== undefined) await fetch(`/visitors/${id}`, { method: 'DELETE' }).catch(() => undefined)
}

/**
 * @param {string} url
 * @param {object} body
 * @param {AbortController} connection
 * @param {Card[]} concerned told when nothing more will come
 * @param {(event: import('./events.js').ServerEvent) => void} show
 */
async function read(url, body, connection, concerned, show) {
  try {
    for await (const event of postForEvents(url, body, connection.signal)) show(event)
    for (const card of concerned) card.close()
  } catch (error) {
    if (!connection.signal.aborted) console.error(error)
    for (const card of concerned) card.close('The connection broke.')
  }
}

/** @param {(connection: AbortController) => Promise<void>} use */
async function connect(use) {
  const connection = new AbortController()
  open.add(connection)
  showRoom()
  await use(connection)
  open.delete(connection)
  showRoom()
}

function showRoom() {
  const full = open.size >= MOST_CONNECTIONS
  for (const button of form.querySelectorAll('button')) button.disabled = full
  hint.textContent = full
    ? 'A browser opens only six connections to one site. Wait for an answer, or cancel a question.'
    : ''
}

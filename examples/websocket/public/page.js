import { connect } from './connection.js'

const template = /** @type {HTMLTemplateElement} */ (document.querySelector('#session'))
const sessions = /** @type {HTMLElement} */ (document.querySelector('#sessions'))

document.querySelector('#open')?.addEventListener('click', open)

/** One session with its place in the line, then its talk. What comes from outside is put in as text only. */
function open() {
  const card = /** @type {DocumentFragment} */ (template.content.cloneNode(true))
  /** @param {string} selector */
  const part = (selector) => /** @type {HTMLElement} */ (card.querySelector(selector))
  const [item, place, answer] = [part('li'), part('.place'), part('.answer')]
  const form = /** @type {HTMLFormElement} */ (part('form'))
  const input = /** @type {HTMLInputElement} */ (part('input'))
  const submit = /** @type {HTMLButtonElement} */ (part('form button'))

  const connection = connect((news) => {
    form.hidden = !['admitted', 'answer', 'answered'].includes(news.state)
    switch (news.state) {
      case 'waiting':
        place.textContent = describe(news)
        break
      case 'admitted':
        place.textContent = 'Your turn'
        submit.disabled = false
        input.focus()
        break
      case 'answer':
        answer.append(`${news.word} `)
        break
      case 'answered':
        submit.disabled = false
        break
      case 'refused':
        place.textContent = `${news.detail} Again in ${news.retryAfter} s.`
        break
      case 'closed':
        place.textContent = `Closed: ${news.reason || news.code}`
        break
    }
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    answer.textContent = ''
    submit.disabled = true
    connection.say(input.value)
    input.value = ''
  })
  part('.leave').addEventListener('click', () => {
    connection.leave()
    item.remove()
  })
  sessions.append(card)
}

/** @param {{ position: number | null, etaMs: number | null }} place */
function describe({ position, etaMs }) {
  const where = position === null ? 'In line' : position === 1 ? 'Next in line' : `Number ${position} in line`
  return etaMs === null ? where : `${where}, about ${Math.max(1, Math.round(etaMs / 1000))} s`
}

const template = /** @type {HTMLTemplateElement} */ (document.getElementById('card'))

/** @typedef {import('./events.js').ServerEvent} ServerEvent */

/** One question: its place in the line, then its answer. What comes from outside is put in as text only. */
export class Card {
  /**
   * @param {string} question
   * @param {() => void} cancel what the card's button does
   */
  constructor(question, cancel) {
    const clone = /** @type {DocumentFragment} */ (template.content.cloneNode(true))
    this.element = /** @type {HTMLLIElement} */ (clone.querySelector('li'))
    this.#part('question').textContent = question
    this.#part('cancel').setAttribute('aria-label', `Cancel: ${question}`)
    this.#part('cancel').addEventListener('click', () => {
      cancel()
      this.#end('cancelled', 'Cancelled', 'the place went to the next')
    })
    this.#say('asking', 'Asking', '')
  }

  /** @param {ServerEvent} event */
  show({ event, data }) {
    if (this.#over) return
    const read = JSON.parse(data)
    switch (event) {
      case 'queue':
        // What the queue tells is in `data`; the rest is there for clients of language models.
        this.#showPlace(read.data)
        break
      case 'sources':
        this.#begin(read)
        break
      case 'text':
        this.#append(read)
        break
      case 'done':
        this.#end('done', 'Answered', '')
        break
      case 'error':
        // From the queue (refused while it waited) or from the answer; both have a message there.
        this.#end('refused', read.error.message, tryAgain(read.body))
        break
      case 'response':
        // A handler that answers with something else than a stream, after the wait has begun one.
        this.#append(typeof read.body === 'string' ? read.body : JSON.stringify(read.body))
        this.#end('done', 'Answered', '')
        break
      case 'refused':
        this.#end('refused', read.detail ?? 'Refused.', tryAgain(read))
        break
    }
  }

  /** Nothing more will come. */
  close(reason = 'The connection ended.') {
    if (!this.#over) this.#end('refused', reason, '')
  }

  get #over() {
    return ['done', 'cancelled', 'refused'].includes(this.element.dataset['state'] ?? '')
  }

  /** @param {{ state: string, position: number | null, etaMs: number | null }} news */
  #showPlace({ state, position, etaMs }) {
    if (state === 'admitted') {
      this.#say('asking', 'Your turn', '')
      return
    }
    const place = position === null ? 'Waiting' : position === 1 ? 'Next' : ordinal(position)
    this.#say('waiting', place, etaMs === null ? 'in line' : `in line, about ${duration(etaMs)}`)
    this.element.style.setProperty('--position', String(position ?? 0))
  }

  /** @param {{ model: string | null, files: string[] }} sources */
  #begin({ model, files }) {
    this.#say('answering', 'Answering', '')
    const from = [...new Set(files)].join(', ')
    this.#part('sources').textContent =
      model === null ? `Passages of ${from}; no model is set` : `${model}, from ${from}`
    this.#part('sources').hidden = files.length === 0
    this.#part('answer').setAttribute('aria-busy', 'true')
  }

  /** @param {string} text */
  #append(text) {
    const answer = this.#part('answer')
    const atEnd = answer.scrollHeight - answer.scrollTop - answer.clientHeight < 40
    answer.hidden = false
    answer.append(text)
    if (atEnd) answer.scrollTop = answer.scrollHeight
  }

  /** @param {string} state @param {string} place @param {string} detail */
  #end(state, place, detail) {
    if (this.#over) return
    this.#say(state, place, detail)
    this.#part('answer').setAttribute('aria-busy', 'false')
    this.#part('answer').scrollTop = 0
    const cancel = this.#part('cancel')
    // Whoever works by keyboard stays where they are.
    if (document.activeElement === cancel) this.element.focus()
    cancel.hidden = true
  }

  /** @param {string} state @param {string} place @param {string} detail */
  #say(state, place, detail) {
    this.element.dataset['state'] = state
    this.#part('place').textContent = place
    this.#part('detail').textContent = detail
  }

  /** @param {string} name */
  #part(name) {
    return /** @type {HTMLElement} */ (this.element.querySelector(`.${name}`))
  }
}

const endings = { one: 'st', two: 'nd', few: 'rd', other: 'th' }
const rules = new Intl.PluralRules('en', { type: 'ordinal' })

/** @param {number} place */
function ordinal(place) {
  return place + endings[/** @type {keyof typeof endings} */ (rules.select(place))]
}

/** @param {number} ms */
function duration(ms) {
  const seconds = Math.max(1, Math.round(ms / 1000))
  return seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
}

/** @param {{ retryAfter?: number } | null | undefined} problem */
function tryAgain(problem) {
  return problem?.retryAfter === undefined ? '' : `Try again in ${problem.retryAfter} s.`
}

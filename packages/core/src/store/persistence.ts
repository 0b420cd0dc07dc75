import type { Clock, Timer } from '../base/clock.js'

/** More unanswered attempts than this would only fill the buffers of a connection that does not answer. */
const MOST_UNANSWERED = 3
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 1000

/** Repeats a call to the store until it is answered. The call itself must bear being repeated. */
export class Persistence {
  readonly #clock: Clock
  readonly #timeoutMs: number
  readonly #onTrouble: (cause: unknown) => void
  readonly #isReady: () => boolean
  #retry: (() => void) | undefined
  #stop: (() => void) | undefined
  #stopped = false

  /** `isReady` says whether trying makes sense now; `onTrouble` hears of every failed and every overdue attempt. */
  constructor(clock: Clock, timeoutMs: number, isReady: () => boolean, onTrouble: (cause: unknown) => void) {
    this.#clock = clock
    this.#timeoutMs = timeoutMs
    this.#isReady = isReady
    this.#onTrouble = onTrouble
  }

  get stopped(): boolean {
    return this.#stopped
  }

  /** The answer to the first attempt that gets one, however late; undefined after `stop()`. One call at a time. */
  until<Answer>(call: () => Promise<Answer>): Promise<Answer | undefined> {
    if (this.#stopped) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      let unanswered = 0
      let pauseMs = FIRST_PAUSE_MS
      let timer: Timer | undefined
      let done = false

      const finish = (answer: Answer | undefined): void => {
        if (done) return
        done = true
        timer?.cancel()
        this.#retry = undefined
        this.#stop = undefined
        resolve(answer)
      }
      const waitAndRetry = (ms: number): void => {
        timer?.cancel()
        timer = this.#clock.setTimer(attempt, ms, 'background')
      }
      const fail = (cause: unknown): void => {
        unanswered -= 1
        if (done) return
        this.#onTrouble(cause)
        waitAndRetry(pauseMs * (0.5 + Math.random()))
        pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)
      }
      const overdue = (): void => {
        this.#onTrouble(new Error(`no answer within ${this.#timeoutMs} ms`))
        attempt()
      }
      const attempt = (): void => {
        if (done) return
        timer?.cancel()
        timer = this.#clock.setTimer(overdue, this.#timeoutMs, 'background')
        if (!this.#isReady() || unanswered >= MOST_UNANSWERED) return
        unanswered += 1
        call().then(finish, fail)
      }
      this.#retry = () => {
        if (unanswered === 0) attempt()
      }
      this.#stop = () => finish(undefined)
      attempt()
    })
  }

  /** One attempt, bounded in time. @throws what the call throws, or an error that says that it took too long */
  once<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const timer = this.#clock.setTimer(
        () => reject(new Error(`no answer within ${this.#timeoutMs} ms`)),
        this.#timeoutMs,
        'background',
      )
      call()
        .then(resolve, reject)
        .finally(() => timer.cancel())
    })
  }

  /** The connection is back: do not wait for the pause to end. */
  retryNow(): void {
    this.#retry?.()
  }

  stop(): void {
    this.#stopped = true
    this.#stop?.()
  }
}

import { StoreUnavailableError, type Instance, type JoinOptions, type Place, type Store } from '../../index.js'

/** A store that answers every place in one way. */
export class FailingStore implements Store {
  readonly kind = 'failing'
  readonly #fail: (place: Place) => void

  constructor(fail: (place: Place) => void) {
    this.#fail = fail
  }

  join({ listener }: JoinOptions): Instance {
    let healthy = true
    return {
      id: 'a',
      enter: (place) => {
        if (healthy) {
          healthy = false
          listener.healthChanged(false, new Error('down'))
        }
        this.#fail(place)
      },
      giveUp: () => Promise.resolve(),
      resume: (_name, place) => this.#fail(place),
      nameOf: () => null,
      putAside: () => undefined,
      keep: () => undefined,
      status: () => Promise.reject(new StoreUnavailableError('down')),
      configure: () => Promise.reject(new StoreUnavailableError('down')),
      leave: () => Promise.resolve(),
    }
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

import type { Instance, JoinOptions, Store } from '../store/contract.js'
import { MemoryInstance } from './memoryInstance.js'
import { MemoryQueue } from './memoryQueue.js'

/**
 * The embedded store: lines live in this process, nothing needs to be set up, a hand-over happens in the same tick.
 * Queues of the same name on the same `MemoryStore` are one queue. A queue's state is forgotten when its last instance leaves.
 */
export class MemoryStore implements Store {
  readonly kind = 'memory'
  readonly #queues = new Map<string, MemoryQueue>()

  join(options: JoinOptions): Instance {
    const { name, declared } = options
    let queue = this.#queues.get(name)
    if (queue === undefined) {
      queue = new MemoryQueue(declared)
      this.#queues.set(name, queue)
    }
    const joined = queue
    const instance = new MemoryInstance(options, joined, () => {
      if (joined.instances.size === 0 && this.#queues.get(name) === joined) this.#queues.delete(name)
    })
    joined.instances.add(instance)
    joined.declare(declared, instance)
    return instance
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

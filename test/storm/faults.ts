import { setTimeout as sleep } from 'node:timers/promises'
import type { Berth } from './fleet.js'
import type { LogWriter } from './log.js'
import type { PlannedFault } from './plan.js'
import type { Topology } from './topology.js'

/** Does what was planned, and writes down when it began and when it was over. */
export class Faults {
  readonly #berths: readonly Berth[]
  readonly #topology: Topology
  readonly #log: LogWriter
  #count = 0

  constructor(berths: readonly Berth[], topology: Topology, log: LogWriter) {
    this.#berths = berths
    this.#topology = topology
    this.#log = log
  }

  /** Resolves when it is over. */
  async inflict({ kind, berths, durationMs, delayMs }: PlannedFault): Promise<void> {
    const concerned = berths.map((index) => this.#berths[index]!).filter(({ up }) => up)
    if (berths.length > 0 && concerned.length === 0) return
    this.#count += 1
    const fault = this.#count
    this.#log.note({
      what: 'fault',
      fault,
      kind,
      processes: concerned.map(({ name }) => name),
      ...(kind === 'slow' ? { delayMs } : {}),
    })
    await this.#do({ kind, durationMs, delayMs }, concerned)
    this.#log.note({ what: 'healed', fault })
  }

  async #do(
    { kind, durationMs, delayMs }: Pick<PlannedFault, 'kind' | 'durationMs' | 'delayMs'>,
    berths: readonly Berth[],
  ): Promise<void> {
    const forAWhile = async (begin: (berth: Berth) => void, end: (berth: Berth) => void): Promise<void> => {
      berths.forEach(begin)
      await sleep(durationMs)
      berths.forEach(end)
    }
    switch (kind) {
      case 'kill':
      case 'terminate':
        for (const berth of berths) {
          berth.signal(kind === 'kill' ? 'SIGKILL' : 'SIGTERM')
          await berth.exited()
          await sleep(durationMs)
          await berth.start()
        }
        break
      case 'stop':
        await forAWhile(
          (berth) => berth.signal('SIGSTOP'),
          (berth) => berth.signal('SIGCONT'),
        )
        break
      case 'cut':
        await forAWhile(
          ({ link }) => link.cut(),
          ({ link }) => link.mend('isLost'),
        )
        break
      case 'blackHole':
      case 'loseAll':
        await forAWhile(
          ({ link }) => link.hold(),
          ({ link }) => link.mend(kind === 'loseAll' ? 'isLost' : 'arrives'),
        )
        break
      case 'loseReplies':
        await forAWhile(
          ({ link }) => link.holdBack(),
          ({ link }) => link.mend('isLost'),
        )
        break
      case 'slow':
        await forAWhile(
          ({ link }) => link.slow(delayMs),
          ({ link }) => link.mend('arrives'),
        )
        break
      case 'stopStore':
      case 'emptyStore':
      case 'oldStore':
      case 'flushAll':
      case 'flushScripts':
        await this.#topology.faults[kind]!(durationMs)
        break
    }
  }
}

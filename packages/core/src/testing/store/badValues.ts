import { OptionError, type EnterOptions, type FairQueueOptions, type KeyCaps } from '../../index.js'
import type { MakeWorld, WorldQueueOptions } from './world.js'
import { deepEqual, matches, rejects, throws } from '../assertions.js'
import { test } from '../suite.js'

const odd = {
  '0': 0,
  '-0': -0,
  '-1': -1,
  '0.5': 0.5,
  '1.25': 1.25,
  '1e21': 1e21,
  NaN: Number.NaN,
  Infinity: Infinity,
  '-Infinity': -Infinity,
  '"5"': '5',
  '""': '',
  '"1.5s"': '1.5s',
  '"Infinity"': 'Infinity',
  null: null,
  undefined: undefined,
  true: true,
  '5n': 5n,
  '[]': [],
  '{valueOf}': { valueOf: () => 5 },
} satisfies Record<string, unknown>

type Name = keyof typeof odd

/** What each option takes of all that; everything else is refused. */
const taken: Record<string, readonly Name[]> = {
  concurrency: ['0', '-0', 'Infinity'],
  maxQueueSize: ['0', '-0', 'Infinity', 'undefined'],
  maxWaitMs: ['0', '-0', '0.5', '1.25', '"1.5s"', 'undefined'],
  leaseMs: ['1.25', '"1.5s"', 'undefined'],
  enabled: ['true', 'undefined'],
  livenessMs: ['1.25', '"1.5s"', 'undefined'],
  pollIntervalMs: ['1.25', '"1.5s"', 'undefined'],
  bootGraceMs: ['0', '-0', '0.5', '1.25', '"1.5s"', 'undefined'],
  statusIntervalMs: ['1.25', '"1.5s"', 'undefined'],
  storeTimeoutMs: ['1.25', '"1.5s"', 'undefined'],
  onStoreError: ['undefined'],
}

const settings = ['concurrency', 'maxQueueSize', 'maxWaitMs', 'leaseMs', 'enabled']

const values = Object.entries(odd) as [Name, unknown][]

/** For each odd value what should come of it: `taken`, or the name of the option that was refused. */
function expected(option: string, accepts: readonly Name[]): Record<string, string> {
  return Object.fromEntries(values.map(([name]) => [name, accepts.includes(name) ? 'taken' : option]))
}

/** `taken`, or the option that was refused, if the error names it in every way. */
async function verdictOf(attempt: () => Promise<unknown>): Promise<string> {
  try {
    await attempt()
    return 'taken'
  } catch (error) {
    if (!(error instanceof OptionError) || error.code !== 'FQ_INVALID_OPTION') throw error
    return error.message.includes(`"${error.option}"`) ? error.option : `unnamed: ${error.message}`
  }
}

/** What a cap per key takes; the rest is refused by its full name. */
const capsTaken: readonly Name[] = ['0', '-0', 'Infinity', 'undefined']

export function badValueTests(makeWorld: MakeWorld): void {
  test.each(['concurrency', 'maxQueueSize'])(
    'B29: constructor and configure take of "perKey.%s" what makes sense, and refuse the rest by name',
    async (cap) => {
      const world = makeWorld()
      const queue = await world.queue({ concurrency: 3 })
      await world.settled()
      const verdicts: Record<string, string>[] = [{}, {}]
      for (const [name, value] of values) {
        const perKey = { [cap]: value } as Partial<KeyCaps>
        verdicts[0]![name] = await verdictOf(async () => {
          const other = await world.queue({ name: `${cap} ${name}`, concurrency: 1, perKey })
          await world.settled()
          if (value !== 0) await (await other.acquire({ key: 'a' })).release()
          await other.close({ graceMs: 0 })
        })
        verdicts[1]![name] = await verdictOf(() => queue.configure({ perKey }))
      }
      const wanted = expected(`perKey.${cap}`, capsTaken)
      deepEqual(verdicts, [wanted, wanted])
    },
  )

  test('B29: "perKey" that is no object with caps is refused by name, and nothing changes', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 3, perKey: { concurrency: 2 } })
    await world.settled()
    const verdicts: string[] = []
    for (const value of [0, 5, '', 'a', true, 5n, [], () => ({}), { concurency: 1 }]) {
      const perKey = value as Partial<KeyCaps>
      verdicts.push(await verdictOf(() => world.queue({ name: 'other', concurrency: 3, perKey })))
      verdicts.push(await verdictOf(() => queue.configure({ perKey })))
    }
    deepEqual(new Set(verdicts), new Set(['perKey', 'concurency']))
    matches(await queue.status(), { perKey: { concurrency: 2, maxQueueSize: Infinity }, version: 0 })
  })

  test.each(Object.entries(taken))(
    'B29: the constructor takes of "%s" what makes sense, works with it, and refuses the rest by name',
    async (option, accepts) => {
      const world = makeWorld()
      // Nobody runs at limit 0, and nobody can be proven alive for a millisecond.
      const canRun = !['concurrency', 'livenessMs', 'storeTimeoutMs', 'bootGraceMs'].includes(option)
      const verdicts: Record<string, string> = {}
      for (const [name, value] of values) {
        verdicts[name] = await verdictOf(async () => {
          const options = { name: `${option} ${name}`, concurrency: 1, [option]: value } as WorldQueueOptions
          const queue = await world.queue(options)
          await world.settled()
          if (canRun) await (await queue.acquire()).release()
          await queue.close({ graceMs: 0 })
        })
      }
      deepEqual(verdicts, expected(option, accepts))
    },
  )

  test.each(settings)(
    'B29: configure takes of "%s" what the constructor takes, clears it with null, and keeps the old value otherwise',
    async (option) => {
      const world = makeWorld()
      const queue = await world.queue({ concurrency: 3, maxQueueSize: 30, maxWaitMs: 300, leaseMs: 3000 })
      await world.settled()
      const before = queue.settings
      const verdicts: Record<string, string> = {}
      for (const [name, value] of values) {
        verdicts[name] = await verdictOf(() => queue.configure({ [option]: value }))
        if (verdicts[name] === 'taken') await queue.configure({ [option]: null })
        matches(await queue.status(), before)
      }
      const accepts = taken[option]!.filter((name) => name !== 'undefined')
      deepEqual(verdicts, expected(option, [...accepts, 'null']))
    },
  )

  test('B29: configure refuses what it does not know, and odd versions and authors', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 3 })
    await world.settled()
    await rejects(queue.configure({ concurency: 5 } as object), { option: 'concurency' })
    for (const ifVersion of [-1, 0.5, Number.NaN, '1', null]) {
      await rejects(queue.configure({}, { ifVersion } as object), { option: 'ifVersion' })
    }
    for (const by of [5, {}, 'x'.repeat(201)]) {
      await rejects(queue.configure({}, { by } as object), { option: 'by' })
    }
    matches(await queue.status(), { concurrency: 3, version: 0, by: null })
  })

  test('B29: enter refuses bad values by name and takes no place', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 1 })
    const takenHere: Record<string, readonly Name[]> = {
      permits: ['undefined'],
      maxWaitMs: taken['maxWaitMs']!,
      key: ['"5"', '""', '"1.5s"', '"Infinity"', 'null', 'undefined'],
      signal: ['undefined'],
      onStatus: ['undefined'],
    }
    for (const [option, accepts] of Object.entries(takenHere)) {
      const verdicts: Record<string, string> = {}
      for (const [name, value] of values) {
        verdicts[name] = await verdictOf(async () => {
          await (await queue.acquire({ [option]: value })).release()
          await world.settled()
        })
      }
      deepEqual(verdicts, expected(option, accepts))
    }
    throws(() => queue.enter({ permits: 0 }), /"permits"/)
    throws(() => queue.enter({ permit: 2 } as EnterOptions), /"permit"/)
    throws(() => queue.enter(null as never), OptionError)
    await world.settled()
    matches(await queue.status(), { running: 0, waiting: 0 })
  })

  test('B29: options that are no options are refused with what was got', async () => {
    const world = makeWorld()
    const bad: [object, string][] = [
      [{ concurrency: 1, concurency: 2 }, 'concurency'],
      [{ concurrency: 1, logger: {} }, 'logger'],
      [{ concurrency: 1, name: 5 }, 'name'],
      [{ concurrency: 1, name: '' }, 'name'],
    ]
    for (const [options, option] of bad) {
      await rejects(world.queue(options as FairQueueOptions), {
        code: 'FQ_INVALID_OPTION',
        option,
      })
    }
  })
}

import { expect, test } from 'vitest'
import { OptionError, type EnterOptions, type FairQueueOptions } from '@fairqueue/core'
import type { MakeWorld, WorldQueueOptions } from './world.js'

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

function verdict(name: Name, accepts: readonly Name[]): string {
  return accepts.includes(name) ? 'taken' : 'refused'
}

export function badValueTests(makeWorld: MakeWorld): void {
  for (const [option, accepts] of Object.entries(taken)) {
    test(`B29: the constructor takes of "${option}" what makes sense, works with it, and refuses the rest by name`, async () => {
      const world = makeWorld()
      for (const [name, value] of Object.entries(odd) as [Name, unknown][]) {
        const options = { name: `${option} ${name}`, concurrency: 1, [option]: value } as WorldQueueOptions
        const outcome = await world.queue(options).catch((error: unknown) => error as OptionError)
        if (outcome instanceof Error) {
          expect(outcome).toBeInstanceOf(OptionError)
          expect(outcome).toMatchObject({ code: 'FQ_INVALID_OPTION', option })
          expect(outcome.message).toContain(`"${option}"`)
        } else {
          await world.settled()
          // Nobody runs at limit 0, and nobody can be proven alive for a millisecond.
          if (!['concurrency', 'livenessMs', 'storeTimeoutMs', 'bootGraceMs'].includes(option)) {
            await (await outcome.acquire()).release()
          }
          await outcome.close({ graceMs: 0 })
        }
        expect([name, outcome instanceof Error ? 'refused' : 'taken']).toEqual([name, verdict(name, accepts)])
      }
    })
  }

  test('B29: configure takes what the constructor takes, clears with null, and keeps the old value otherwise', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 3, maxQueueSize: 30, maxWaitMs: 300, leaseMs: 3000 })
    await world.settled()
    const before = queue.settings
    for (const option of settings) {
      for (const [name, value] of Object.entries(odd) as [Name, unknown][]) {
        const change = queue.configure({ [option]: value })
        if (name === 'null' || (taken[option]!.includes(name) && name !== 'undefined')) {
          await expect(change, `${option} ${name}`).resolves.toBeDefined()
          await queue.configure({ [option]: null })
        } else {
          await expect(change, `${option} ${name}`).rejects.toMatchObject({ code: 'FQ_INVALID_OPTION', option })
        }
        expect((await queue.status()) as object, `${option} ${name}`).toMatchObject(before)
      }
    }
    await expect(queue.configure({ concurency: 5 } as object)).rejects.toMatchObject({ option: 'concurency' })
    for (const ifVersion of [-1, 0.5, Number.NaN, '1', null]) {
      await expect(queue.configure({}, { ifVersion } as object)).rejects.toMatchObject({ option: 'ifVersion' })
    }
    for (const by of [5, {}, 'x'.repeat(201)]) {
      await expect(queue.configure({}, { by } as object)).rejects.toMatchObject({ option: 'by' })
    }
    expect(await queue.status()).toMatchObject(before)
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
      for (const [name, value] of Object.entries(odd) as [Name, unknown][]) {
        const options = { [option]: value } as EnterOptions
        if (accepts.includes(name)) {
          const ticket = queue.enter(options)
          await world.settled()
          ticket.cancel()
          if (ticket.state === 'granted') await (await ticket.granted).release()
        } else {
          expect(() => queue.enter(options), `${option} ${name}`).toThrow(
            expect.objectContaining({ code: 'FQ_INVALID_OPTION', option }) as Error,
          )
          await expect(queue.acquire(options), `${option} ${name}`).rejects.toMatchObject({ option })
        }
      }
    }
    expect(() => queue.enter({ permit: 2 } as object)).toThrow(/"permit"/)
    expect(() => queue.enter(null as unknown as EnterOptions)).toThrow(OptionError)
    await world.settled()
    expect(await queue.status()).toMatchObject({ running: 0, waiting: 0 })
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
      await expect(world.queue(options as FairQueueOptions)).rejects.toMatchObject({
        code: 'FQ_INVALID_OPTION',
        option,
      })
    }
  })
}

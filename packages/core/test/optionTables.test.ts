import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readDuration } from '../src/base/duration.js'
import { resolveHttpOptions } from '../src/http/resolvedOptions.js'
import { sseFormats } from '../src/http/sseFormat.js'
import { FairQueue, MemoryStore, OptionError, QueueFullError } from '../src/index.js'
import { resolveQueueOptions } from '../src/queue/options.js'

/** What only Fastify's plugin takes, and its defaults. */
const ofFastify = { global: true, hook: 'preHandler', closeGraceMs: 10_000, errorResponseBuilder: undefined }

const { declared, ...ofQueue } = resolveQueueOptions({ concurrency: 1 }, new MemoryStore())
const queueDefaults: Record<string, unknown> = { ...ofQueue, ...declared }

const { sseFormat, ...ofHttp } = resolveHttpOptions({ concurrency: 1 })
const httpDefaults: Record<string, unknown> = {
  ...ofHttp,
  maxWaitMs: declared.maxWaitMs,
  sseFormat: Object.entries(sseFormats).find(([, format]) => format === sseFormat)?.[0],
  // What a refusal of the queue has by itself.
  statusCode: new QueueFullError('').status,
  // The one that joins the fields of other limiters.
  standardHeaders: 'draft-8',
}

/** A default in words stands for one that is no number, switch or word: something is made, or there is nothing. */
const inWords = new Set(['concurrency', 'name', 'store', 'perKey', 'logger', 'clock', 'queue', 'message'])

const tables: [string, ReadonlySet<string>, Record<string, unknown>][] = [
  ['core', knownTo((options) => new FairQueue(options as never)), queueDefaults],
  ['express', knownTo((options) => resolveHttpOptions(options)), { ...queueDefaults, ...httpDefaults }],
  ['koa', knownTo((options) => resolveHttpOptions(options)), { ...queueDefaults, ...httpDefaults }],
  [
    'fastify',
    new Set([...knownTo((options) => resolveHttpOptions(options)), ...Object.keys(ofFastify)]),
    { ...queueDefaults, ...httpDefaults, ...ofFastify },
  ],
]

describe.each(tables)("the options in %s' README", (name, known, defaults) => {
  const rows = optionRows(name)

  test('are those that the code knows, each once', () => {
    expect(rows.map(([option]) => option).toSorted()).toEqual([...known].toSorted())
  })

  test.each(rows.filter(([option, text]) => !inWords.has(option) && text !== ''))(
    '%s has the default %s in the code, too',
    (option, text) => {
      expect(defaults[option] ?? null).toEqual(readDefault(text))
    },
  )

  test('has a default for all but what the table of core has', () => {
    const without = rows.filter(([, text]) => text === '').map(([option]) => option)
    expect(without).toEqual(name === 'core' ? [] : ['livenessMs', 'pollIntervalMs', 'bootGraceMs', 'clock'])
  })
})

/** The names that a validator lists when it meets one that it does not know. */
function knownTo(validate: (options: object) => unknown): ReadonlySet<string> {
  try {
    validate({ concurrency: 1, noSuchOption: true })
  } catch (error) {
    if (error instanceof OptionError)
      return new Set(/Known options: (.+)\.$/.exec(error.message)?.[1]?.split(', ') ?? [])
  }
  throw new Error('an unknown option was not refused')
}

/** Name and default of each option; a row of the table may name several. */
function optionRows(name: string): [string, string][] {
  const readme = readFileSync(new URL(`../../${name}/README.md`, import.meta.url), 'utf8')
  const table = readme
    .split('\n\n')
    .find((part) => part.startsWith('| option |') && part.includes('\n| `concurrency` |'))
  const lines = table?.split('\n').filter((line) => line.startsWith('| `')) ?? []
  return lines.flatMap((line): [string, string][] => {
    const [, names = '', texts = ''] = line.split('|').map((cell) => cell.trim())
    const options = names.split(', ').map((each) => each.replaceAll('`', ''))
    const split = texts.split(', ')
    return options.map((option, index) => [
      option,
      (options.length > 1 && split.length > 1 ? split[index] : texts) ?? '',
    ])
  })
}

/** `30 s`, `1000`, `true`, `'auto'` or `{ … }`; null for words. */
function readDefault(text: string): unknown {
  const bare = text.replaceAll('`', '')
  if (bare === 'true' || bare === 'false') return bare === 'true'
  if (/^\d+$/.test(bare)) return Number(bare)
  if (/^'.+'$/.test(bare)) return bare.slice(1, -1)
  if (bare.startsWith('{'))
    return JSON.parse(bare.replaceAll(/(\w+):/g, '"$1":').replaceAll("'1h'", '3600000')) as unknown
  return readDuration(bare.replace(' ', '')) ?? null
}

import type { ConfigureReply, ExchangeApplied, ExchangeReply, StatusReply, Verdicts } from '../store/exchanger.js'
import type { Settings } from '../store/settings.js'
import { readSettings } from './settingsJson.js'

/** A reply that is not what the script promises: an outage like any other, never a verdict. */
function malformed(script: string, reply: unknown): Error {
  return new Error(`malformed reply of "${script}": ${JSON.stringify(reply)?.slice(0, 200)}`)
}

/** Numbers come as integers, or as text where they may be too large for that. */
function readNumber(script: string, value: unknown): number {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  if (typeof number !== 'number' || Number.isNaN(number)) throw malformed(script, value)
  return number
}

function readVerdicts(kept: string): Verdicts {
  const [, first, words, grants, , news = ''] = kept.split(' ')
  if (first === undefined || words === undefined || grants === undefined) throw malformed('exchange', kept)
  return { first: readNumber('exchange', first), words, grants: readList(grants, ','), news: readList(news, ',') }
}

/** A list as scripts write them; the empty text is the empty list. */
export function readList(text: string, separator: string): string[] {
  return text === '' ? [] : text.split(separator)
}

/** `epoch` is the one that was sent: a store that knows no other does not repeat it. */
export function readExchange(reply: unknown, epoch: string, code: Settings): ExchangeReply {
  if (!Array.isArray(reply)) throw malformed('exchange', reply)
  if (reply[0] === 'same') {
    const [, kept, nextMs, waiting] = reply as unknown[]
    if (typeof kept !== 'string') throw malformed('exchange', reply)
    return readApplied(epoch, kept, nextMs, 0, waiting, null, null)
  }
  return readWordy(reply, code)
}

function readApplied(
  epoch: string,
  kept: string,
  nextMs: unknown,
  graceMs: unknown,
  waiting: unknown,
  settings: ExchangeApplied['settings'],
  full: ExchangeApplied['full'],
): ExchangeApplied {
  return {
    word: 'ok',
    epoch,
    verdicts: readVerdicts(kept),
    nextMs: Math.max(0, readNumber('exchange', nextMs)),
    graceMs: readNumber('exchange', graceMs),
    waiting: readNumber('exchange', waiting),
    settings,
    more: Number(nextMs) < 0,
    full,
  }
}

function readWordy(reply: unknown[], code: Settings): ExchangeReply {
  const [word, epoch, kept, nextMs, graceMs, waiting, settings, fence, own, instances] = reply
  if (word === 'stale') return { word }
  if (typeof epoch !== 'string' || typeof kept !== 'string') throw malformed('exchange', reply)
  if (word === 'rejoin') return { word, epoch, verdicts: kept === '' ? null : readVerdicts(kept) }
  if (word !== 'ok' || typeof settings !== 'string') throw malformed('exchange', reply)
  const full =
    typeof own === 'string' ? { fence: Number(fence), running: readList(own, ','), instances: String(instances) } : null
  return readApplied(epoch, kept, nextMs, graceMs, waiting, readSettings(settings, code), full)
}

export function readRejoin(reply: unknown): { epoch: string } {
  if (!Array.isArray(reply) || reply[0] !== 'ok' || typeof reply[1] !== 'string') throw malformed('rejoin', reply)
  return { epoch: reply[1] }
}

export function readConfigure(reply: unknown, code: Settings): ConfigureReply {
  if (!Array.isArray(reply)) throw malformed('configure', reply)
  const [word, detail, grants, more] = reply as unknown[]
  if (word === 'full') return { word }
  if (word === 'conflict') return { word, version: readNumber('configure', detail) }
  const settings = readSettings(String(detail), code)
  if (word !== 'ok' || settings === null || typeof grants !== 'string') throw malformed('configure', reply)
  return { word, settings, grants: readList(grants, ','), more: more === 1 }
}

export function readStatus(reply: unknown, code: Settings): StatusReply {
  if (!Array.isArray(reply) || reply.length < 7) throw malformed('status', reply)
  const [, atMs, waiting, running, instances, grants, settings, ...positions] = reply as unknown[]
  const news = readSettings(String(settings), code)
  return {
    atMs: readNumber('status', atMs),
    waiting: readNumber('status', waiting),
    running: readNumber('status', running),
    instances: readNumber('status', instances),
    grants: readNumber('status', grants),
    settings: news === null || news.broken ? null : news.record,
    positions: positions.map((position) => readNumber('status', position) || null),
  }
}

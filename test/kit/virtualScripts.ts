import { createHash } from 'node:crypto'
import { composeScript } from '@fairqueue/scripts/build-lua'

/** The server's time comes with each call, as one more argument at the end: it survives a flush and needs no key. */
const CLOCK = 'local serverUs = tonumber(table.remove(ARGV))'

const names = ['exchange', 'rejoin', 'configure', 'status'] as const

/** A script of the product, and the same script with a clock that the test sets. */
export interface VirtualScript {
  readonly name: (typeof names)[number]
  readonly sha1: string
  readonly lua: string
}

const bySha1 = new Map<string, VirtualScript>(
  names.map((name) => {
    const { sha1, lua } = composeScript(name, { fragments: { clock: CLOCK } })
    return [composeScript(name).sha1, { name, sha1, lua }]
  }),
)

/** Finds a script by the hash by which the product calls it. */
export function virtualScript(productSha1: string): VirtualScript {
  const script = bySha1.get(productSha1)
  if (script === undefined)
    throw new Error(`No script of the product has the hash ${productSha1}: is the generated file current?`)
  return script
}

/** Finds a script by its text. */
export function virtualScriptOf(productLua: string): VirtualScript {
  return virtualScript(createHash('sha1').update(productLua).digest('hex'))
}

import { argumentsOf, type Executed, type Member } from './server.js'
import type { ModelProcess } from './process.js'

function names(members: readonly Member[]): string {
  return members.map(({ name }) => name).join(',')
}

/** One executed call, fit for the eye. */
export function describe(
  { call, reply, hints, after }: Executed,
  nowMs: number,
  processes: readonly ModelProcess[],
): string {
  const { named, rest } = argumentsOf(call)
  const { batch, flags, instance } = named
  const who = processes.find(({ id }) => id === instance)?.label ?? '?'
  const told = hints.map(([, message]) => message.replace(/^\S+ /, '')).join(' | ')
  return [
    `  ${nowMs.toFixed(0)} ${who} ${call.script.name} ${batch ?? ''} ${flags ?? ''} ${rest.join(' ')}`,
    `    → ${JSON.stringify(reply).replace(/"\{.*\}"/, '{settings}')} hints ${told}`,
    `    store: runs ${names(after.running)} waits ${names(after.waiting)} parked ${names(after.parked)} aside ${names(after.aside)} limit ${after.limit} per key ${after.keyLimit}`,
  ].join('\n')
}

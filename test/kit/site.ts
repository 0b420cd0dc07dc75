import type { FairQueue } from '@fairqueue/core'
import { siteOf as openSiteOf, type Application, type Site } from '@fairqueue/core/testing/adapter'
import { expect, onTestFinished } from 'vitest'

/** What a client sends that can read events. */
export const asksForEvents = { Accept: 'text/event-stream' } as const

/** An application that listens, for as long as the test lasts. */
export function siteOf(application: Application): Site {
  const site = openSiteOf(application)
  onTestFinished(site.close)
  return site
}

/** Closes something when the test ends. */
export function closing<Closed extends { close(options: { readonly graceMs: number }): Promise<void> }>(
  closed: Closed,
): Closed {
  onTestFinished(() => closed.close({ graceMs: 0 }))
  return closed
}

/** Expects something of a value that may still have to become so; patient, for machines that are busy. */
export function eventually<Value>(read: () => Value | Promise<Value>): ReturnType<typeof expect.poll<Value>> {
  return expect.poll(read, { interval: 2, timeout: 10_000 })
}

/** Waits until so many tickets stand in the line. */
export async function waitingIs(queue: FairQueue, count: number): Promise<void> {
  await eventually(async () => (await queue.status()).waiting).toBe(count)
}

/** Waits until so many permits are in use. */
export async function runningIs(queue: FairQueue, count: number): Promise<void> {
  await eventually(async () => (await queue.status()).running).toBe(count)
}

/** Something that a test lets happen when it wants. */
export function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined
  const promise = new Promise<void>((settle) => (resolve = settle))
  return { promise, resolve }
}

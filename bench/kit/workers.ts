import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Starts a program of this folder in a Node of its own, with `flags`; resolves when it has sent its first message. */
export async function startWorker(
  program: string,
  config: object,
  flags: readonly string[] = [],
): Promise<ChildProcess> {
  const path = fileURLToPath(new URL(`../${program}.js`, import.meta.url))
  const worker = fork(path, [JSON.stringify(config)], { execArgv: [...flags] })
  const failed = once(worker, 'exit').then(([code]) => {
    throw new Error(`${program} ended with ${String(code)} before it was ready`)
  })
  await Promise.race([once(worker, 'message'), failed])
  return worker
}

/** Sends a message and waits for the answer. */
export async function ask<Answer>(worker: ChildProcess, message: unknown): Promise<Answer> {
  worker.send(message as object)
  const [answer] = (await once(worker, 'message')) as [Answer]
  return answer
}

/** Tells a worker to end and waits until it has: nothing it uses may be taken away before. */
export async function stopWorker(worker: ChildProcess): Promise<void> {
  const ended = once(worker, 'exit')
  worker.send('stop')
  await ended
}

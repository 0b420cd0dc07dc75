import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'

const { REDIS_URL, REDIS_SERVER = 'redis-server' } = process.env

const HOW_TO_GET_ONE = `There is no Redis: set REDIS_URL to the address of one, or install ${REDIS_SERVER} \
(Debian, Ubuntu: apt-get install redis-server; macOS: brew install redis).`

/** The Redis that the servers share. */
export interface SharedRedis {
  readonly url: string
  /** For people: an address may hold a password. */
  readonly title: string
  /** Ends it if we have started it. */
  stop(): Promise<void>
}

/** The one that REDIS_URL names, else one of our own on a free port, which keeps nothing. @throws Error saying how to get one */
export async function findRedis(): Promise<SharedRedis> {
  if (REDIS_URL) return { url: REDIS_URL, title: 'the Redis of REDIS_URL', stop: async () => undefined }
  const port = String(await freePort())
  const child = spawn(
    REDIS_SERVER,
    ['--port', port, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', tmpdir()],
    // In a group of its own: a Ctrl-C in the terminal must not end it before those who use it.
    { stdio: ['ignore', 'pipe', 'inherit'], detached: true },
  )
  await once(child, 'spawn').catch(() => {
    throw new Error(HOW_TO_GET_ONE)
  })
  const exit = once(child, 'exit')
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.includes('Ready to accept connections')) {
      child.stdout.resume() // what else it says must not fill its pipe
      const url = `redis://127.0.0.1:${port}`
      return {
        url,
        title: url,
        stop: async () => {
          process.off('exit', kill)
          child.kill('SIGTERM')
          await exit
        },
      }
    }
  }
  await exit
  throw new Error(`${REDIS_SERVER} ended before it was ready.`)
}

async function freePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return port
}

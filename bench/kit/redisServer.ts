import { spawn } from 'node:child_process'
import { createServer, type AddressInfo } from 'node:net'

/** A Redis of this benchmark's own: empty, on loopback, without persistence. */
export interface RedisServer {
  readonly port: number
  stop(): Promise<void>
}

/** Starts `REDIS_SERVER`, or `redis-server` of the PATH, on a free port. */
export async function startRedis(): Promise<RedisServer> {
  const port = await freePort()
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', '/tmp']
  const server = spawn(process.env['REDIS_SERVER'] ?? 'redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<void>((resolve) => {
    server.once('close', () => resolve())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.once('exit', (code) => reject(new Error(`redis-server ended with ${code} before it was ready`)))
    server.stdout.on('data', (lines: Buffer) => {
      if (lines.includes('Ready to accept connections')) resolve()
    })
  })
  return {
    port,
    stop: async () => {
      server.kill()
      await ended
    },
  }
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => {
    probe.listen(0, '127.0.0.1', resolve)
  })
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => {
    probe.close(resolve)
  })
  return port
}

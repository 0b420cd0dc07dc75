import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { freePort, RedisServer } from './redisServer.js'

const SLOTS = 16_384

/** A Cluster of Redis servers of our own, of whom the first ones are masters. */
export class RedisCluster {
  readonly servers: readonly RedisServer[]
  readonly #controls: readonly Redis[]
  readonly #masters: number

  private constructor(servers: readonly RedisServer[], masters: number) {
    this.servers = servers
    this.#masters = masters
    this.#controls = servers.map(({ host, port }) => {
      const control = new Redis(port, host, { maxRetriesPerRequest: 0 })
      control.on('error', () => undefined)
      return control
    })
  }

  /** Resolves when every server knows that all slots are served and all replicas follow. `settings` as on the command line. */
  static async started(masters: number, replicas = 0, ...settings: string[]): Promise<RedisCluster> {
    const busPorts = await Promise.all(Array.from({ length: masters + replicas }, freePort))
    const servers = await Promise.all(
      busPorts.map((busPort) =>
        RedisServer.started(
          ...['--cluster-enabled', 'yes', '--cluster-port', String(busPort)],
          // A fail-over should take no longer than a test wants to wait.
          ...['--cluster-node-timeout', '500', '--cluster-replica-validity-factor', '0'],
          ...[
            '--cluster-announce-ip',
            '127.0.0.1',
            '--repl-diskless-sync-delay',
            '0',
            '--repl-ping-replica-period',
            '1',
          ],
          ...settings,
        ),
      ),
    )
    const cluster = new RedisCluster(servers, masters)
    await cluster.#form(busPorts[0]!)
    return cluster
  }

  /** Where a client may begin. */
  get addresses(): { host: string; port: number }[] {
    return this.servers.map(({ host, port }) => ({ host, port }))
  }

  /** A connection to one server alone. */
  control(index: number): Redis {
    return this.#controls[index]!
  }

  /** Which server is the master of a key now, as the first that can be asked says. */
  async masterOf(key: string): Promise<number> {
    const slot = Number(await this.#controls[0]!.call('CLUSTER', 'KEYSLOT', key))
    const ranges = (await this.#controls[0]!.call('CLUSTER', 'SLOTS')) as [number, number, [string, number]][]
    const [, , [, port]] = ranges.find(([from, to]) => from <= slot && slot <= to)!
    return this.servers.findIndex((server) => server.port === port)
  }

  /** Forgets all keys, on servers that run. */
  async flush(): Promise<void> {
    for (const control of this.#controls.slice(0, this.#masters)) await control.flushall()
  }

  async stop(): Promise<void> {
    for (const control of this.#controls) control.disconnect()
    await Promise.all(this.servers.map((server) => server.stop()))
  }

  async #form(busPort: number): Promise<void> {
    const { host, port } = this.servers[0]!
    const ids = await Promise.all(this.#controls.map(async (control) => String(await control.call('CLUSTER', 'MYID'))))
    for (const [index, control] of this.#controls.entries()) {
      await control.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
      if (index < this.#masters) {
        const from = Math.floor((index * SLOTS) / this.#masters)
        const to = Math.floor(((index + 1) * SLOTS) / this.#masters) - 1
        await control.call('CLUSTER', 'ADDSLOTSRANGE', from, to)
      }
      if (index > 0) await control.call('CLUSTER', 'MEET', host, port, busPort)
    }
    for (const [index, control] of this.#controls.entries()) {
      if (index < this.#masters) continue
      const master = ids[(index - this.#masters) % this.#masters]!
      await untilTrue(async () => (await control.call('CLUSTER', 'REPLICATE', master).catch(() => 'no')) === 'OK')
    }
    await this.#until(async (control) => {
      const nodes = (await nodesOf(control)).split('\n').filter((line) => line.includes(' connected'))
      const replicas = nodes.filter((line) => line.includes('slave'))
      return nodes.length === ids.length && replicas.length === ids.length - this.#masters && (await isWhole(control))
    })
  }

  async #until(holds: (control: Redis) => Promise<boolean>): Promise<void> {
    for (const control of this.#controls) await untilTrue(() => holds(control))
  }
}

async function nodesOf(control: Redis): Promise<string> {
  return String(await control.call('CLUSTER', 'NODES'))
}

async function isWhole(control: Redis): Promise<boolean> {
  const state = String(await control.call('CLUSTER', 'INFO'))
  const link = await control.info('replication')
  return state.includes('cluster_state:ok') && (link.includes('role:master') || link.includes('master_link_status:up'))
}

/** Servers of a Cluster tell each other, and nobody else. */
export async function untilTrue(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(10)
}

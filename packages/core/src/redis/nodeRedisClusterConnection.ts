import type { ConnectionWatcher, HintConnection, HintListener, RedisConnection } from './connection.js'
import { infoByScript } from './infoByScript.js'
import { listenLike, NodeRedisWay, type NodeRedisClient, type NodeRedisCommands } from './nodeRedisConnection.js'

type NodeEvent = 'connect' | 'disconnect' | 'node-ready' | 'node-error' | 'node-disconnect'

/** What this library needs of a Cluster that `createCluster()` of node-redis 6 makes. */
export interface NodeRedisCluster extends NodeRedisCommands {
  readonly isReady: boolean
  readonly _keyPrefix?: unknown
  readonly masters: readonly NodeRedisNode[]
  readonly replicas: readonly NodeRedisNode[]
  withTypeMapping(mapping: object): NodeRedisCommands
  on(event: NodeEvent, listener: () => void): unknown
  off(event: NodeEvent, listener: () => void): unknown
}

/** A server of a Cluster, as far as the Cluster is connected to it. */
interface NodeRedisNode {
  readonly client?: Pick<NodeRedisClient, 'duplicate' | 'options' | 'isReady'> | undefined
}

/** A Cluster that `createCluster()` of node-redis has made. */
export class NodeRedisClusterConnection extends NodeRedisWay implements RedisConnection {
  readonly spread = true
  readonly #cluster: NodeRedisCluster

  constructor(cluster: NodeRedisCluster) {
    // oxlint-disable-next-line no-underscore-dangle -- the only place where it can be read
    super(cluster.withTypeMapping({}), cluster._keyPrefix)
    this.#cluster = cluster
  }

  get ready(): boolean {
    return this.#cluster.isReady
  }

  info(key: string): Promise<string> {
    return infoByScript(this, key)
  }

  watch({ onReady, onLost }: ConnectionWatcher): () => void {
    const cluster = this.#cluster
    // What a server had may be another's now.
    const onChange = (): void => {
      onLost()
      if (this.ready) onReady()
    }
    const changes = ['connect', 'node-ready', 'node-error', 'node-disconnect'] as const
    for (const event of changes) cluster.on(event, onChange)
    cluster.on('disconnect', onLost)
    if (this.ready) onReady()
    return () => {
      for (const event of changes) cluster.off(event, onChange)
      cluster.off('disconnect', onLost)
    }
  }

  /** To any node, since a Cluster passes messages on to all. */
  listen(listener: HintListener): HintConnection {
    return listenLike(() => {
      const clients = [...this.#cluster.masters, ...this.#cluster.replicas].flatMap(({ client }) =>
        client?.isReady ? [client] : [],
      )
      const client = clients[Math.floor(Math.random() * clients.length)]
      if (client === undefined) throw new Error('The Cluster is connected to no node.')
      return client
    }, listener)
  }
}

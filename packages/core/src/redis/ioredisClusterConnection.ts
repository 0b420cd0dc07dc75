import type { ConnectionWatcher, HintConnection, HintListener, RedisConnection } from './connection.js'
import { infoByScript } from './infoByScript.js'
import { IoredisHints, IoredisWay, type IoredisCommands, type IoredisSubscriber } from './ioredisConnection.js'
import { RenewedHints } from './renewedHints.js'

/** What this library needs of a `Cluster` of ioredis (5 or 6) or iovalkey. */
export interface IoredisCluster extends IoredisCommands {
  readonly isCluster: boolean
  readonly options: { readonly keyPrefix?: string | undefined }
  nodes(role: 'all'): readonly { duplicate(override: object): IoredisSubscriber }[]
  on(event: 'ready' | 'close' | '+node' | '-node', listener: () => void): unknown
  off(event: 'ready' | 'close' | '+node' | '-node', listener: () => void): unknown
}

/** A `Cluster` of ioredis or iovalkey. */
export class IoredisClusterConnection extends IoredisWay<IoredisCluster> implements RedisConnection {
  readonly spread = true

  constructor(cluster: IoredisCluster) {
    super(cluster, cluster.options.keyPrefix)
  }

  info(key: string): Promise<string> {
    return infoByScript(this, key)
  }

  watch({ onReady, onLost }: ConnectionWatcher): () => void {
    const { client } = this
    const onChange = (): void => {
      onLost()
      if (this.ready) onReady()
    }
    client.on('ready', onReady)
    client.on('close', onLost)
    // What a server had may be another's now.
    client.on('+node', onChange)
    client.on('-node', onChange)
    if (this.ready || client.status === 'wait') onReady()
    return () => {
      client.off('ready', onReady)
      client.off('close', onLost)
      client.off('+node', onChange)
      client.off('-node', onChange)
    }
  }

  /**
   * To any node, since a Cluster passes messages on to all. Not by the Cluster's own subscriber: that one tells nobody when it was away.
   */
  listen(listener: HintListener): HintConnection {
    return new RenewedHints((once) => {
      const nodes = this.client.nodes('all')
      const node = nodes[Math.floor(Math.random() * nodes.length)]
      if (node === undefined) throw new Error('No node of the Cluster is known.')
      return new IoredisHints(
        (override) => node.duplicate({ ...override, retryStrategy: null, readOnly: false, keyPrefix: '' }),
        once,
      )
    }, listener)
  }
}

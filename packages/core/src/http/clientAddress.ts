import { isIPv4 } from 'node:net'
import { OptionError } from '../base/errors.js'
import { optionError, refuseUnknown } from '../base/options.js'
import { ipv6Network, readAddress } from './ipAddress.js'
import { forwardedAddress, readTrust, type TrustedProxies } from './trustedProxies.js'

/** Options of {@link clientAddress}. */
export interface ClientAddressOptions {
  /**
   * How many leading bits of an IPv6 address make a client, 1 to 128: whoever has one address usually has its whole network, and could
   * take another for each request. Default 56.
   */
  readonly ipv6Prefix?: number
  /**
   * Whose `X-Forwarded-For` is believed: so many proxies in front of this server, or those of a list of addresses and networks; or
   * `'framework'`, to take `request.ip` as the framework's own setting finds it (`trust proxy` of Express, `app.proxy` of Koa, `trustProxy`
   * of Fastify). Default: nobody's, the socket's address counts.
   */
  readonly trustProxy?: TrustedProxies
}

/** What the requests of Node, Express and Fastify and the contexts of Koa have in common. */
export interface AddressedRequest {
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined }
  readonly socket: { readonly remoteAddress?: string | undefined }
  /** What the framework takes for the client's address. */
  readonly ip?: string | undefined
}

/** The key that requests without an address share. */
const UNKNOWN = 'unknown'

/**
 * Makes a `keyGenerator` that tells clients apart by address: IPv4 as it is (also if mapped into IPv6), IPv6 by its network. All requests
 * without an address (a Unix socket, a connection that has just closed) share the key `'unknown'`. Behind a proxy set `trustProxy`, or all
 * clients share the proxy's address.
 * @throws OptionError naming the option and what it got
 * @example
 * fairQueue({ concurrency: 8, keyGenerator: clientAddress({ trustProxy: 1 }) })
 */
export function clientAddress(options: ClientAddressOptions = {}): (request: AddressedRequest) => string {
  const { ipv6Prefix, trustProxy } = resolve(options)
  const find = trustProxy === 'framework' ? frameworkAddress : socketAddress(trustProxy)
  return (request) => {
    const address = find(request)
    if (address === undefined) return UNKNOWN
    return isIPv4(address) ? address : ipv6Network(address, ipv6Prefix)
  }
}

function resolve(options: ClientAddressOptions): Required<ClientAddressOptions> {
  if (typeof options !== 'object' || options === null) throw optionError('options', 'an object', options)
  refuseUnknown(options, new Set<keyof ClientAddressOptions>(['ipv6Prefix', 'trustProxy']))
  const { ipv6Prefix = 56, trustProxy = 0 } = options
  if (!Number.isInteger(ipv6Prefix) || ipv6Prefix < 1 || ipv6Prefix > 128)
    throw optionError('ipv6Prefix', 'a whole number from 1 to 128', ipv6Prefix)
  return { ipv6Prefix, trustProxy }
}

function socketAddress(trustProxy: TrustedProxies): (request: AddressedRequest) => string | undefined {
  const trusts = readTrust(trustProxy)
  return ({ socket, headers }) => forwardedAddress(socket.remoteAddress, headers['x-forwarded-for'], trusts)
}

function frameworkAddress(request: AddressedRequest): string | undefined {
  if ('ip' in request) return readAddress(request.ip)
  throw new OptionError('trustProxy', `With trustProxy: 'framework' a request must have "ip", and this one has not.`)
}

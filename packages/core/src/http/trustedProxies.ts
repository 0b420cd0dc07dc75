import { BlockList, isIP } from 'node:net'
import { optionError } from '../base/options.js'
import { readAddress } from './ipAddress.js'

/**
 * Who may say in `X-Forwarded-For` for whom a request was made: so many proxies in front of this server, or those with these addresses
 * and networks (`'10.0.0.0/8'`, `'2001:db8::/32'`, `'192.0.2.7'`).
 */
export type TrustedProxies = number | string | readonly string[]

/** Whether the peer that is `hops` steps away from this server is a proxy whose word counts. */
type Trust = (address: string | undefined, hops: number) => boolean

/** @throws OptionError */
export function readTrust(value: unknown): Trust {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return (_address, hops) => hops < value
  const rules = typeof value === 'string' ? [value] : value
  if (!Array.isArray(rules))
    throw optionError('trustProxy', "a number of proxies, a list of addresses and networks, or 'framework'", value)
  const proxies = new BlockList()
  for (const rule of rules) addRule(proxies, rule)
  return (address) => address !== undefined && proxies.check(address, family(address))
}

function addRule(proxies: BlockList, rule: unknown): void {
  const [address, prefix, ...rest] = typeof rule === 'string' ? rule.split('/') : []
  const bits = Number(prefix ?? 0)
  // What is looked up has no port, no zone, and is not mapped into IPv6.
  const isAddress = address !== undefined && readAddress(address) === address
  const isNetwork =
    isAddress && (prefix === undefined || (/^\d+$/.test(prefix) && bits <= (isIP(address) === 4 ? 32 : 128)))
  if (!isNetwork || rest.length > 0)
    throw optionError('trustProxy', 'a list of addresses and networks such as "10.0.0.0/8"', rule)
  if (prefix === undefined) proxies.addAddress(address, family(address))
  else proxies.addSubnet(address, bits, family(address))
}

function family(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6'
}

/**
 * The address of whoever asked the outermost trusted proxy. `X-Forwarded-For` is read from the right, where the nearest proxy has written;
 * what stands left of the first untrusted entry anybody may have made up. An entry that is no address ends the reading: the proxy that
 * passed it on counts.
 */
export function forwardedAddress(
  peer: string | undefined,
  forwardedFor: string | readonly string[] | undefined,
  trusts: Trust,
): string | undefined {
  const entries = forwardedFor === undefined ? [] : String(forwardedFor).split(',')
  let address = readAddress(peer)
  for (let hops = 0; trusts(address, hops); hops += 1) {
    const next = readAddress(entries.pop())
    if (next === undefined) break
    address = next
  }
  return address
}

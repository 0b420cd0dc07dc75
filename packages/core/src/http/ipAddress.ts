import { isIPv4, isIPv6 } from 'node:net'

/** `1.2.3.4:5678`, as some proxies write it. */
const WITH_PORT_4 = /^([\d.]+):\d+$/
/** `[2001:db8::1]` or `[2001:db8::1]:5678`. */
const WITH_PORT_6 = /^\[([^\]]+)\](?::\d+)?$/

/** Reads an address as sockets and proxies write it: IPv4 mapped into IPv6 becomes IPv4; a port and a zone are dropped. Undefined: it is none. */
export function readAddress(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const trimmed = text.trim()
  const bare = WITH_PORT_4.exec(trimmed)?.[1] ?? WITH_PORT_6.exec(trimmed)?.[1] ?? trimmed
  if (isIPv4(bare)) return bare
  return isIPv6(bare) ? unmapped(bare.split('%', 1)[0]!) : undefined
}

/** The network of an IPv6 address, as `2001:db8:0:100::/56`. Blocks of one customer are /56 or /64: a single address says nothing. */
export function ipv6Network(address: string, prefix: number): string {
  const network = ipv6Groups(address)
    .slice(0, Math.ceil(prefix / 16))
    .map((group, i) => (group & (0xffff << Math.max(0, 16 - (prefix - 16 * i)))).toString(16))
  return `${network.join(':')}${network.length < 8 ? '::' : ''}/${prefix}`
}

function unmapped(ipv6: string): string {
  const groups = ipv6Groups(ipv6)
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  return isMapped
    ? groups
        .slice(6)
        .flatMap((group) => [group >> 8, group & 0xff])
        .join('.')
    : ipv6
}

/** The eight groups. `URL` knows all ways to write an address, and leaves only the `::` to be spread out. */
function ipv6Groups(ipv6: string): number[] {
  const [head, tail] = new URL(`http://[${ipv6}]`).hostname.slice(1, -1).split('::')
  const read = (part: string | undefined): number[] =>
    part === undefined || part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))
  const [before, after] = [read(head), read(tail)]
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
}

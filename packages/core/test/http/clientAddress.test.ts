import { describe, expect, it } from 'vitest'
import { OptionError } from '@fairqueue/core'
import { clientAddress, type AddressedRequest, type ClientAddressOptions } from '@fairqueue/core/http'

function from(remoteAddress: string | undefined, forwardedFor?: string | string[], ip?: string): AddressedRequest {
  return { socket: { remoteAddress }, headers: { 'x-forwarded-for': forwardedFor }, ip }
}

describe('B26: clientAddress', () => {
  it.each<[string | undefined, string]>([
    ['1.2.3.4', '1.2.3.4'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::ffff:102:304', '1.2.3.4'],
    ['0:0:0:0:0:FFFF:1.2.3.4', '1.2.3.4'],
    ['2001:db8:1:2ff:3:4:5:6', '2001:db8:1:200::/56'],
    ['2001:DB8:0001:02FE::1', '2001:db8:1:200::/56'],
    ['fe80::1%eth0', 'fe80:0:0:0::/56'],
    ['::1', '0:0:0:0::/56'],
    ['::', '0:0:0:0::/56'],
    [undefined, 'unknown'],
    ['', 'unknown'],
    ['undefined', 'unknown'],
  ])('takes the socket address %s for %s', (address, key) => {
    expect(clientAddress()(from(address))).toBe(key)
  })

  it.each<[number, string]>([
    [1, '8000::/1'],
    [16, 'fedc::/16'],
    [20, 'fedc:b000::/20'],
    [48, 'fedc:ba98:7654::/48'],
    [64, 'fedc:ba98:7654:3210::/64'],
    [127, 'fedc:ba98:7654:3210:ffff:eeee:dddd:ccce/127'],
    [128, 'fedc:ba98:7654:3210:ffff:eeee:dddd:cccf/128'],
  ])('groups IPv6 by the first %i bits', (ipv6Prefix, key) => {
    expect(clientAddress({ ipv6Prefix })(from('fedc:ba98:7654:3210:ffff:eeee:dddd:cccf'))).toBe(key)
  })

  it('gives a thousand addresses of one /64 one key', () => {
    const addresses = Array.from({ length: 1000 }, (_, i) => `2001:db8:1:2:${i.toString(16)}::${i.toString(16)}`)
    expect(new Set(addresses.map((address) => clientAddress()(from(address))))).toEqual(new Set(['2001:db8:1:0::/56']))
  })

  describe('with X-Forwarded-For', () => {
    const forged = '9.9.9.9, 8.8.8.8'

    it.each<[string, ClientAddressOptions, string | undefined, string | string[] | undefined, string]>([
      ['believes no header by default', {}, '10.0.0.1', '1.1.1.1', '10.0.0.1'],
      ['believes no header of 0 proxies', { trustProxy: 0 }, '10.0.0.1', '1.1.1.1', '10.0.0.1'],
      [
        'takes what one proxy has added, not what was forged',
        { trustProxy: 1 },
        '10.0.0.1',
        `${forged}, 1.1.1.1`,
        '1.1.1.1',
      ],
      [
        'takes what the outer of two has added',
        { trustProxy: 2 },
        '10.0.0.1',
        `${forged}, 1.1.1.1, 10.0.0.2`,
        '1.1.1.1',
      ],
      ['takes the outermost there is of more proxies', { trustProxy: 9 }, '10.0.0.1', '1.1.1.1', '1.1.1.1'],
      ['takes the peer without a header', { trustProxy: 1 }, '10.0.0.1', undefined, '10.0.0.1'],
      ['reads several headers as one', { trustProxy: 2 }, '10.0.0.1', ['9.9.9.9, 1.1.1.1', '10.0.0.2'], '1.1.1.1'],
      ['asks the list of each', { trustProxy: ['10.0.0.0/8'] }, '10.0.0.1', `${forged}, 1.1.1.1, 10.9.9.9`, '1.1.1.1'],
      ['stops at a peer that the list has not', { trustProxy: '10.0.0.1' }, '10.0.0.2', '1.1.1.1', '10.0.0.2'],
      ['knows a listed peer mapped into IPv6', { trustProxy: '10.0.0.0/8' }, '::ffff:10.0.0.1', '1.1.1.1', '1.1.1.1'],
      [
        'knows listed networks of IPv6',
        { trustProxy: ['fd00::/8', '10.0.0.1'] },
        'fd00::1',
        '2001:db8::1',
        '2001:db8:0:0::/56',
      ],
      ['trusts nobody of an empty list', { trustProxy: [] }, '10.0.0.1', '1.1.1.1', '10.0.0.1'],
      ['takes a Unix socket for one proxy', { trustProxy: 1 }, undefined, `${forged}, 1.1.1.1`, '1.1.1.1'],
      ['trusts no Unix socket by a list', { trustProxy: ['10.0.0.0/8'] }, undefined, '1.1.1.1', 'unknown'],
      ['drops ports', { trustProxy: 1 }, '10.0.0.1', '1.1.1.1:4711', '1.1.1.1'],
      ['drops brackets', { trustProxy: 1 }, '10.0.0.1', '[2001:db8::1]:4711', '2001:db8:0:0::/56'],
      ['takes the proxy for what is no address', { trustProxy: 1 }, '10.0.0.1', '1.1.1.1, unknown', '10.0.0.1'],
      ['takes the proxy for an empty header', { trustProxy: 1 }, '10.0.0.1', '', '10.0.0.1'],
      [
        'does not read on behind what is no address',
        { trustProxy: 3 },
        '10.0.0.1',
        '1.1.1.1, <script>, 10.0.0.2',
        '10.0.0.2',
      ],
    ])('%s', (_what, options, peer, header, key) => {
      expect(clientAddress(options)(from(peer, header))).toBe(key)
    })
  })

  it("takes the framework's word for it where it is told to, and for nothing else", () => {
    const generate = clientAddress({ trustProxy: 'framework' })
    expect(generate(from('10.0.0.1', '9.9.9.9', '::ffff:1.1.1.1'))).toBe('1.1.1.1')
    expect(generate(from('10.0.0.1', '9.9.9.9', undefined))).toBe('unknown')
    expect(() => generate({ socket: {}, headers: {} })).toThrow(OptionError)
  })

  it.each<[string, unknown]>([
    ['ipv6Prefix', 0],
    ['ipv6Prefix', 129],
    ['ipv6Prefix', 56.5],
    ['ipv6Prefix', Number.NaN],
    ['ipv6Prefix', '56'],
    ['ipv6Prefix', null],
    ['trustProxy', -1],
    ['trustProxy', 1.5],
    ['trustProxy', true],
    ['trustProxy', null],
    ['trustProxy', 'loopback'],
    ['trustProxy', ''],
    ['trustProxy', ['10.0.0.0/33']],
    ['trustProxy', ['10.0.0.0/']],
    ['trustProxy', ['10.0.0.0/8/8']],
    ['trustProxy', ['fd00::/129']],
    ['trustProxy', ['::ffff:10.0.0.1']],
    ['trustProxy', [undefined]],
    ['trustproxy', 1],
  ])('refuses %s: %o, by name', (name, value) => {
    const make = (): unknown => clientAddress({ [name]: value })
    expect(make).toThrow(OptionError)
    expect(make).toThrow(`"${name}"`)
  })

  it.each(['1', null, 5])('refuses %o for its options', (options) => {
    expect(() => clientAddress(options as ClientAddressOptions)).toThrow(OptionError)
  })
})

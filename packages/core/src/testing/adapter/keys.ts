import { clientAddress, type ClientAddressOptions } from '../../http.js'
import type { Adapter, AdapterOptions } from './adapter.js'
import { openGate, openSite, runningIs } from './site.js'
import { deepEqual, includes } from '../assertions.js'
import { test } from '../suite.js'

export function keyTests(adapter: Adapter): void {
  const askWith = async (
    keyGenerator: (request: never) => unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; body: string; keys: (string | null)[] }> => {
    const { gate, queue } = openGate(adapter, {
      concurrency: 1,
      keyGenerator: keyGenerator as NonNullable<AdapterOptions['keyGenerator']>,
    })
    const keys: (string | null)[] = []
    queue.on('granted', ({ key }) => keys.push(key))
    const site = await openSite(adapter, {
      showErrors: true,
      routes: [{ path: '/', gate, handler: ({ text }) => text('ran') }],
    })
    const { status, body } = await site.get('/', headers)
    await runningIs(queue, 0)
    return { status, body, keys }
  }

  test.each([
    ['a text', 'ann', 'ann'],
    ['nothing', undefined, null],
    ['null', null, null],
    ['the empty text', '', null],
    ['a promise', Promise.resolve('ben'), 'ben'],
    ['a promise of nothing', Promise.resolve(undefined), null],
  ])('B26: may return %s', async (_what, returned, key) => {
    deepEqual(await askWith(() => returned), { status: 200, body: 'ran', keys: [key] })
  })

  test.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('no user')
      },
      'no user',
    ],
    ['rejects', () => Promise.reject(new Error('no user')), 'no user'],
    // For a framework that would mean to go on, past the queue.
    ['rejects with nothing', rejectWithNothing, 'threw nothing'],
    ['returns a number', () => 5, 'must return a text, null or undefined, got 5'],
    ['returns an object', () => ({}), 'must return a text, null or undefined, got a value of type object'],
    [
      'promises an object',
      () => Promise.resolve({}),
      'must return a text, null or undefined, got a value of type object',
    ],
    ['hangs', () => new Promise(() => undefined), 'was not kept within 1000 ms'],
  ])('B26: that %s is an error of the request, and takes no place', async (_what, keyGenerator, message) => {
    const { status, body, keys } = await askWith(keyGenerator)
    deepEqual([status, keys], [500, []])
    includes(body, message)
  })

  test.each<[string, ClientAddressOptions, string]>([
    ['the socket, whatever a client makes up', {}, '127.0.0.1'],
    ['what a trusted proxy has added', { trustProxy: ['127.0.0.0/8'] }, '8.8.8.8'],
    [
      "what the framework takes for the client's, which by default trusts nobody",
      { trustProxy: 'framework' },
      '127.0.0.1',
    ],
  ])('B26: may be clientAddress(), which takes %s', async (_what, options, key) => {
    const { keys } = await askWith(clientAddress(options), { 'X-Forwarded-For': '9.9.9.9, 8.8.8.8' })
    deepEqual(keys, [key])
  })
}

function rejectWithNothing(): Promise<never> {
  // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
  return Promise.reject()
}

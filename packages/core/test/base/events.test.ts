import { expect, test, vi } from 'vitest'
import { Events } from '../../src/base/events.js'

interface Payloads {
  readonly one: number
  readonly two: string
}

test('every listener of a name gets the payload, once however often it was added, in the order of adding', () => {
  const events = new Events<Payloads>(() => undefined)
  const heard: string[] = []
  const first = (value: number): void => void heard.push(`first ${value}`)
  events.on('one', first)
  events.on('one', (value) => void heard.push(`second ${value}`))
  events.on('one', first)
  events.on('two', () => void heard.push('never'))
  events.emit('one', 5)
  expect(heard).toEqual(['first 5', 'second 5'])
})

test('a listener that throws reaches onListenerError, and the others still run', () => {
  const errors: unknown[] = []
  const events = new Events<Payloads>((error) => errors.push(error))
  const second = vi.fn<(payload: unknown) => void>()
  events.on('one', () => {
    throw new Error('bad')
  })
  events.on('one', second)
  expect(() => events.emit('one', 1)).not.toThrow()
  expect(second).toHaveBeenCalledWith(1)
  expect(errors).toEqual([new Error('bad')])
})

test('listeners that come and go while an event is told change nothing for those that were there', () => {
  const events = new Events<Payloads>(() => undefined)
  const late = vi.fn<(payload: unknown) => void>()
  const second = vi.fn<(payload: unknown) => void>()
  events.on('one', () => {
    events.off('one', second)
    events.on('one', late)
  })
  events.on('one', second)
  events.emit('one', 1)
  expect(second).toHaveBeenCalledTimes(1)
  expect(late).not.toHaveBeenCalled()
})

test('heard says whether anybody listens', () => {
  const events = new Events<Payloads>(() => undefined)
  const listener = (): void => undefined
  expect(events.heard('one')).toBe(false)
  events.on('one', listener)
  expect(events.heard('one')).toBe(true)
  events.off('one', listener)
  events.off('one', listener)
  expect(events.heard('one')).toBe(false)
  expect(() => events.emit('one', 1)).not.toThrow()
})

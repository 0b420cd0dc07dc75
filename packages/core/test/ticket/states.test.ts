import { expect, test } from 'vitest'
import { legalMoves, mayMove, type TicketState } from '../../src/ticket/states.js'

const states = Object.keys(legalMoves) as TicketState[]
const legal = new Set([
  'waiting granted',
  'waiting timedOut',
  'waiting cancelled',
  'waiting failed',
  'waiting rejected',
  'waiting reserved',
  'waiting moved',
  'reserved timedOut',
  'reserved cancelled',
  'reserved failed',
  'reserved moved',
  'granted released',
  'granted lost',
])

test('exactly the moves of the table are legal', () => {
  for (const from of states) for (const to of states) expect(mayMove(from, to)).toBe(legal.has(`${from} ${to}`))
})

test('every state but the three on the way is an end', () => {
  expect(states.filter((state) => legalMoves[state].length > 0)).toEqual(['waiting', 'reserved', 'granted'])
})

test('from the start every state can be reached', () => {
  const reached = new Set<TicketState>(['waiting'])
  for (const state of reached) for (const next of legalMoves[state]) reached.add(next)
  expect([...reached].toSorted()).toEqual(states.toSorted())
})

import * as fc from 'fast-check'

/** One thing that happens in a `Play`. What it cannot happen to, it does not happen to. */
export interface Event<Play> {
  readonly text: string
  happen(play: Play): Promise<void>
}

/** Picks one of a list by a number that knows nothing of its length. */
export function pick<Item>(items: readonly Item[], index: number): Item | undefined {
  return items[index % items.length]
}

/** What describes one kind of event: what is open about it, and what it does. */
export type Describe<Play> = <Details>(
  name: string,
  details: fc.Arbitrary<Details>,
  happen: (play: Play, details: Details) => Promise<void> | void,
) => fc.Arbitrary<Event<Play>>

/** For the events of one kind of play. */
export function eventsOf<Play>(): Describe<Play> {
  return (name, details, happen) =>
    details.map((chosen) => {
      const text = `${name} ${fc.stringify(chosen)}`
      return { text, happen: async (play) => happen(play, chosen), [fc.toStringMethod]: () => text }
    })
}

/** For events of which nothing is open. */
export const nothing: fc.Arbitrary<null> = fc.constant(null)

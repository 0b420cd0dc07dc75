/** A function that remembers how it was called. */
export type Spy<Called extends (...args: never[]) => unknown> = Called & {
  readonly calls: Parameters<Called>[]
}

/** Makes one; it does what `behaviour` does. Default: nothing. */
export function spy<Called extends (...args: never[]) => unknown>(behaviour?: Called): Spy<Called> {
  const calls: Parameters<Called>[] = []
  const called = (...args: Parameters<Called>): unknown => {
    calls.push(args)
    return behaviour?.(...args)
  }
  return Object.assign(called as unknown as Called, { calls })
}

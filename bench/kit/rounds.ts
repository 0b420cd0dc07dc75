/**
 * Measures contenders side by side: every round runs each of them once, in turn, so that whatever else the machine does meets all of
 * them alike. Rounds before the first counted one warm up.
 */
export async function interleave<Name extends string, Row>(
  contenders: Readonly<Record<Name, () => Promise<Row>>>,
  { warmUps, rounds }: { readonly warmUps: number; readonly rounds: number },
): Promise<Record<Name, Row[]>> {
  const names = Object.keys(contenders) as Name[]
  const rows = Object.fromEntries(names.map((name) => [name, [] as Row[]])) as Record<Name, Row[]>
  for (let round = -warmUps; round < rounds; round += 1) {
    for (const name of names) {
      const row = await contenders[name]()
      if (round >= 0) rows[name].push(row)
    }
  }
  return rows
}

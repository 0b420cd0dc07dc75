/** One number that somebody promised. */
export interface Goal {
  readonly what: string
  readonly measured: number
  readonly goal: number
  readonly least: number
  /** Which way is better. */
  readonly better: 'higher' | 'lower'
  /** Behind every number; default none. */
  readonly unit?: string
}

/** Prints goals with what was measured. */
export function printGoals(title: string, goals: readonly Goal[]): void {
  printTable(
    title,
    ['', 'goal', 'least', 'measured', ''],
    goals.map(({ what, measured, goal, least, better, unit = '' }) => {
      const reaches = (bound: number): boolean => (better === 'higher' ? measured >= bound : measured <= bound)
      const verdict = reaches(goal) ? 'goal reached' : reaches(least) ? 'acceptable' : 'MISSED'
      const sign = better === 'higher' ? '≥' : '≤'
      return [what, `${sign} ${goal}${unit}`, `${sign} ${least}${unit}`, `${short(measured)}${unit}`, verdict]
    }),
  )
}

/** Prints rows under headings, the first column to the left, the others to the right. */
export function printTable(
  title: string,
  headings: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): void {
  const texts = [headings, ...rows].map((row) => row.map((cell) => (typeof cell === 'number' ? short(cell) : cell)))
  const widths = headings.map((_, column) => Math.max(...texts.map((row) => row[column]?.length ?? 0)))
  const lines = texts.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join('  '),
  )
  console.log(`\n${title}\n${lines.join('\n')}`)
}

/** Three significant digits, whole from a hundred on. */
function short(number: number): string {
  if (!Number.isFinite(number)) return String(number)
  if (Math.abs(number) >= 100) return number.toFixed(0)
  return String(Number(number.toPrecision(3)))
}

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The page that shows the tables; it is the record that the suite compares with. */
export const page = fileURLToPath(new URL('../../docs/compatibility.md', import.meta.url))

/** The page with a table put in between the comments that bear its name. Columns are as wide as their text. */
export function withTable(
  text: string,
  name: string,
  header: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const lines = [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  const place = new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- end -->)`)
  if (!place.test(text)) throw new Error(`The page has no place for the table "${name}"`)
  return text.replace(place, (_all, begin: string, end: string) => `${begin}\n${lines.join('\n')}\n\n${end}`)
}

export const readPage = (): string => readFileSync(page, 'utf8')

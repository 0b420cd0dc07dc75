import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** A paragraph, a list's item or a table's row of this project's documentation. */
export interface Passage {
  /** The file it is from. */
  readonly source: string
  /** The heading it stands under. */
  readonly heading: string
  readonly text: string
}

const root = new URL('../../../', import.meta.url)

/** Reads all the documentation there is. */
export function readDocumentation(): Passage[] {
  const guides = ['README.md', 'lua/README.md', ...list('docs').map((name) => `docs/${name}`)]
  const packages = list('packages').map((name) => `packages/${name}/README.md`)
  return [...guides, ...packages].filter((file) => file.endsWith('.md') && exists(file)).flatMap(readPassages)
}

/** Cuts a Markdown file into passages. Code is left out. */
function readPassages(source: string): Passage[] {
  const markdown = readFileSync(new URL(source, root), 'utf8').replaceAll(/^```[^]*?^```$/gm, '')
  let heading = source
  const found: Passage[] = []
  for (const block of markdown.split(/\n(?=\s*\n|#|\||\s*[-*] |\s*\d+\. )/)) {
    const title = /^\s*#+ (.+)/.exec(block)?.[1]
    const text = plain(block)
    if (title !== undefined) heading = plain(title)
    else if (text !== '') found.push({ source, heading, text })
    // The line below a table's head: what came just before was no passage.
    else if (block.startsWith('|')) found.pop()
  }
  return found
}

/** Markdown in one line, without its marks. */
function plain(markdown: string): string {
  return markdown
    .trim()
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\*\*|`|(?<!\w)\*(?=\w)|(?<=[\w.])\*(?!\w)/g, '')
    .replaceAll(/^[\s|*-]+|^\d+\. +|[\s|]+$/g, '')
    .replaceAll(/(\s*[|–])+\s*/g, ' – ')
    .replaceAll(/\s+/g, ' ')
}

function exists(path: string): boolean {
  return existsSync(new URL(path, root))
}

function list(folder: string): string[] {
  return exists(folder) ? readdirSync(new URL(folder, root)) : []
}

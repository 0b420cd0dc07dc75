import MiniSearch from 'minisearch'
import { readDocumentation, type Passage } from './passages.js'

const passages = readDocumentation()

/** Words of questions that say nothing about what is asked. */
const emptyWords = new Set(
  `a an and are be by can do does for happens has have how i in is it its may nobody of on or somebody that the there they to what when
  where which while who whose will with`.split(/\s+/),
)

const index = new MiniSearch<Passage & { id: number }>({
  fields: ['heading', 'text'],
  processTerm: (term) => (emptyWords.has(term.toLowerCase()) ? null : term.toLowerCase()),
  searchOptions: {
    boost: { heading: 2 },
    prefix: (term) => term.length > 3,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
  },
})
index.addAll(passages.map((passage, id) => ({ ...passage, id })))

/** The passages that fit a question best, the best first. */
export function findPassages(question: string, count = 3): Passage[] {
  const hits = index.search(question)
  return hits.slice(0, count).map(({ id }) => passages[id as number]!)
}

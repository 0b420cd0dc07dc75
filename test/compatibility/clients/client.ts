import { createRequire } from 'node:module'

const pinned = (createRequire(import.meta.url)('../package.json') as { devDependencies: Record<string, string> })
  .devDependencies

/** A client as an application uses it. */
export interface Client {
  /** What it is in the table: package, version, call. */
  readonly name: string
  /**
   * Asks the server and resolves with the answer's text. Rejects with what the application gets told if there is none. `show` is called
   * with whatever the application can see that is no part of the answer.
   */
  ask(this: void, url: string, show: (text: string) => void): Promise<string>
}

/** A package's name and the version that is installed here. */
export function versioned(name: string): string {
  const version = pinned[name]!
  return version.startsWith('npm:') ? version.slice('npm:'.length) : `${name}@${version}`
}

/** What an application was told by the stream itself. */
export class ToldError extends Error {
  override readonly name = 'ToldError'
}

/** An application's own reader of events: texts, until there is an `end`; an `error` carries its reason. */
export class Reader {
  #text = ''
  readonly #show: (text: string) => void

  constructor(show: (text: string) => void) {
    this.#show = show
  }

  /** Takes an event and returns the whole answer when it is complete. @throws ToldError, and SyntaxError for what is no JSON */
  take(name: string | undefined, data: string): string | undefined {
    if (name === 'end') return this.#text
    if (name === 'error') throw new ToldError(data)
    if (name === undefined || name === '' || name === 'message')
      this.#text += (JSON.parse(data) as { text: string }).text
    else this.#show(data)
    return undefined
  }
}

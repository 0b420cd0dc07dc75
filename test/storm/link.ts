import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** What becomes of what is sent over a link: from its process to the store, and back. */
interface Passage {
  /** Nothing comes through; what was sent is kept. */
  held: boolean
  delayMs: number
}

/** The way of one server process to the store: a TCP proxy on which everything that goes wrong on a network can be made to go wrong. */
export class Link {
  readonly #targetPort: number
  readonly #server: Server
  readonly #pairs = new Set<Pair>()
  readonly #there: Passage = { held: false, delayMs: 0 }
  readonly #back: Passage = { held: false, delayMs: 0 }
  #refuses = false

  private constructor(targetPort: number) {
    this.#targetPort = targetPort
    this.#server = createServer({ noDelay: true }, (socket) => this.#accept(socket))
  }

  static async open(targetPort: number): Promise<Link> {
    const link = new Link(targetPort)
    await once(link.#server.listen(0, '127.0.0.1'), 'listening')
    return link
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Open connections are closed, new ones are closed at once, until `mend`. */
  cut(): void {
    this.#refuses = true
    this.#breakAll()
  }

  /** Nothing comes through either way, until `mend`. */
  hold(): void {
    this.#there.held = true
    this.#back.held = true
  }

  /** What is sent arrives, answers and hints do not, until `mend`. */
  holdBack(): void {
    this.#back.held = true
  }

  slow(delayMs: number): void {
    this.#there.delayMs = delayMs
    this.#back.delayMs = delayMs
  }

  /** All is well again. What was held back arrives now, or is lost with its connections. */
  mend(held: 'arrives' | 'isLost'): void {
    this.#refuses = false
    for (const passage of [this.#there, this.#back]) {
      passage.held = false
      passage.delayMs = 0
    }
    if (held === 'isLost') this.#breakAll()
    else for (const pair of this.#pairs) pair.flow()
  }

  close(): void {
    this.#server.close()
    this.#breakAll()
  }

  #accept(near: Socket): void {
    if (this.#refuses) {
      near.destroy()
      return
    }
    const far = connect({ port: this.#targetPort, host: '127.0.0.1', noDelay: true })
    const pair = new Pair(new Stretch(near, far, this.#there), new Stretch(far, near, this.#back))
    this.#pairs.add(pair)
    for (const socket of [near, far]) {
      socket.on('error', () => undefined)
      socket.on('close', () => {
        // While nothing comes through, nor does the end of a connection.
        pair.end(() => this.#pairs.delete(pair))
      })
    }
  }

  #breakAll(): void {
    for (const pair of this.#pairs) pair.break()
    this.#pairs.clear()
  }
}

/** The two directions of one connection. */
class Pair {
  readonly #stretches: readonly Stretch[]
  #ended: (() => void) | undefined

  constructor(...stretches: Stretch[]) {
    this.#stretches = stretches
  }

  flow(): void {
    for (const stretch of this.#stretches) stretch.flow()
    if (this.#ended !== undefined) this.end(this.#ended)
  }

  end(ended: () => void): void {
    this.#ended = ended
    if (this.#stretches.some((stretch) => stretch.isHeld)) return
    for (const stretch of this.#stretches) stretch.flow()
    this.break()
    ended()
  }

  break(): void {
    for (const stretch of this.#stretches) stretch.break()
  }
}

/** One direction of one connection. */
class Stretch {
  readonly #from: Socket
  readonly #to: Socket
  readonly #passage: Passage
  #underWay: { readonly atMs: number; readonly bytes: Buffer }[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(from: Socket, to: Socket, passage: Passage) {
    this.#from = from
    this.#to = to
    this.#passage = passage
    from.on('data', (bytes) => {
      this.#underWay.push({ atMs: performance.now() + passage.delayMs, bytes })
      this.flow()
    })
  }

  get isHeld(): boolean {
    return this.#passage.held
  }

  /** Delivers what is due, in order. */
  flow(): void {
    clearTimeout(this.#timer)
    if (this.#passage.held) return
    const now = performance.now()
    while (this.#underWay.length > 0) {
      // Who is no longer slow was not slow for what is still under way either.
      const dueInMs = this.#passage.delayMs === 0 ? 0 : this.#underWay[0]!.atMs - now
      if (dueInMs > 0) {
        this.#timer = setTimeout(() => this.flow(), dueInMs)
        return
      }
      this.#to.write(this.#underWay.shift()!.bytes)
    }
  }

  break(): void {
    clearTimeout(this.#timer)
    this.#from.destroy()
    this.#underWay = []
  }
}

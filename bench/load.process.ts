// Asks a server for its first page over keep-alive connections, as often as it answers.
import autocannon from 'autocannon'

export interface LoadOrder {
  /** Where the server listens on this machine. */
  readonly port: number
  readonly connections: number
  readonly seconds: number
}

export interface LoadSeen {
  readonly answers: number
  readonly perSecond: number
  /** Answers other than 2xx, and connections that failed. */
  readonly failures: number
}

async function load({ port, connections, seconds }: LoadOrder): Promise<LoadSeen> {
  const { requests, non2xx, errors, duration } = await autocannon({
    url: `http://127.0.0.1:${port}/`,
    connections,
    duration: seconds,
  })
  return { answers: requests.total, perSecond: requests.total / duration, failures: non2xx + errors }
}

process.on('message', (order: LoadOrder | 'stop') => {
  if (order === 'stop') process.exit()
  void load(order).then((seen) => process.send!(seen))
})
process.send!('ready')

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { expect, onTestFinished } from 'vitest'

/** What came through the proxy so far. */
export interface Proxied {
  readonly request: ClientRequest
  readonly response: Promise<IncomingMessage>
  /** Waits until the body holds a text. @throws Error if it ends without */
  until(text: string): Promise<string>
  /** The whole body. */
  readonly body: Promise<string>
}

/** Starts an nginx in front of a port, with lines of configuration of its `server`; it listens on a socket of its own and ends with the test. */
export async function startNginx(port: number, lines = ''): Promise<(path: string, headers?: object) => Proxied> {
  const directory = mkdtempSync(join(tmpdir(), 'fairqueue-nginx-'))
  const socketPath = join(directory, 'socket')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  writeFileSync(
    join(directory, 'nginx.conf'),
    `daemon off; pid ${directory}/pid; error_log stderr crit; worker_processes 1;
    ${process.getuid?.() === 0 ? 'user root;' : ''}
    events {}
    http {
      access_log off;
      ${temporary.map((name) => `${name}_temp_path ${directory}/${name};`).join(' ')}
      gzip on; gzip_types *; gzip_min_length 0; gzip_proxied any;
      server { listen unix:${socketPath}; ${lines} location / { proxy_pass http://127.0.0.1:${port}; } }
    }`,
  )
  const nginx = spawn(
    process.env['NGINX_SERVER']!,
    ['-p', directory, '-c', join(directory, 'nginx.conf'), '-e', 'stderr'],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  onTestFinished(async () => {
    if (nginx.exitCode === null) {
      nginx.kill('SIGTERM')
      await once(nginx, 'exit')
    }
    rmSync(directory, { recursive: true })
  })
  await expect.poll(() => canConnect(socketPath), { interval: 5, timeout: 15_000 }).toBe(true)
  return (path, headers = {}) => ask(socketPath, path, { ...headers })
}

async function canConnect(path: string): Promise<boolean> {
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

function ask(socketPath: string, path: string, headers: Record<string, string>): Proxied {
  const asked = request({ socketPath, path, headers: { host: 'chat.example', ...headers } })
  const response = once(asked, 'response').then(([message]) => message as IncomingMessage)
  let received = ''
  let wake: () => void = () => undefined
  const body = response.then(async (message) => {
    const zipped = message.headers['content-encoding'] === 'gzip'
    const text = zipped ? pipeline(message, createGunzip(), () => undefined) : message
    for await (const chunk of text.setEncoding('utf8')) {
      received += chunk as string
      wake()
    }
    return received
  })
  response.catch(() => undefined)
  body.catch(() => undefined)
  asked.end()
  return {
    request: asked,
    response,
    body,
    until: async (text) => {
      while (!received.includes(text)) {
        const ended = await Promise.race([body.then(() => true), new Promise<false>((go) => (wake = () => go(false)))])
        if (ended && !received.includes(text)) throw new Error(`The body ended without ${text}: ${received}`)
      }
      return received
    },
  }
}

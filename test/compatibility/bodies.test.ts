import { createHash, randomBytes } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import multipart from '@fastify/multipart'
import proxy from '@fastify/http-proxy'
import express from 'express'
import Fastify from 'fastify'
import { createProxyMiddleware } from 'http-proxy-middleware'
import Koa from 'koa'
import { koaBody } from 'koa-body'
import { expect, it, onTestFinished } from 'vitest'
import type { FairQueue } from '@fairqueue/core'
import { fairQueue } from '@fairqueue/express'
import { fairQueue as fastifyFairQueue } from '@fairqueue/fastify'
import { fairQueue as koaFairQueue } from '@fairqueue/koa'
import { eventually, waitingIs } from '@fairqueue/test/kit/site'
import { gateOptions, listen } from './twins.js'

/** More than what Node and the operating system keep of a body that nobody reads. */
const FILE = randomBytes(20 * 1024 * 1024)

/** What a server may have taken of a body while its request waits. */
const MOST_TAKEN = 1024 * 1024

const hash = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex')

/** A server whose only route answers with the hash of what was uploaded, read behind a queue with one place. */
interface UploadSite {
  readonly server: Server
  readonly queue: FairQueue
}

const options = () => ({ ...gateOptions(), upload: true })

async function onKoa(parse: Koa.Middleware, read: (ctx: Koa.Context) => Promise<string>): Promise<UploadSite> {
  const gate = koaFairQueue(options())
  const app = new Koa()
  app.use(gate).use(parse)
  app.use(async (ctx) => {
    ctx.body = await read(ctx)
  })
  const listener = app.callback()
  return { server: createServer((req, res) => void listener(req, res)), queue: gate.queue }
}

async function withKoaBody(): Promise<UploadSite> {
  return onKoa(koaBody({ multipart: true }), async (ctx) => {
    const { filepath } = [ctx.request.files!['file']!].flat()[0]!
    onTestFinished(() => rm(filepath))
    return hash(await readFile(filepath))
  })
}

async function withKoaBodyForJson(): Promise<UploadSite> {
  return onKoa(koaBody({ jsonLimit: '50mb' }), async (ctx) => {
    return hash(Buffer.from((ctx.request.body as { file: string }).file, 'base64'))
  })
}

/** `hook`: where the request waits; before the parser of the plugin, or behind it and before the handler that reads. */
async function withFastifyMultipart(hook: 'onRequest' | 'preHandler'): Promise<UploadSite> {
  const app = Fastify()
  await app.register(multipart, { limits: { fileSize: FILE.length } })
  await app.register(fastifyFairQueue, { ...options(), hook })
  app.post('/', async (request) => hash(await (await request.file())!.toBuffer()))
  await app.ready()
  onTestFinished(() => app.close())
  return { server: createServer((req, res) => app.routing(req, res)), queue: app.fairQueue().queue }
}

/** A server behind a proxy. */
async function openUpstream(): Promise<string> {
  const server = createServer((req, res) => {
    const digest = createHash('sha256')
    req.on('data', (chunk: Buffer) => digest.update(chunk)).on('end', () => res.end(digest.digest('hex')))
  })
  return `http://127.0.0.1:${await listen(server)}`
}

async function withHttpProxyMiddleware(): Promise<UploadSite> {
  const gate = fairQueue(options())
  const app = express()
  app.use(gate, createProxyMiddleware({ target: await openUpstream() }))
  return { server: createServer(app), queue: gate.queue }
}

async function withFastifyHttpProxy(): Promise<UploadSite> {
  const app = Fastify()
  await app.register(fastifyFairQueue, options())
  await app.register(proxy, { upstream: await openUpstream() })
  await app.ready()
  onTestFinished(() => app.close())
  return { server: createServer((req, res) => app.routing(req, res)), queue: app.fairQueue().queue }
}

function form(): FormData {
  const data = new FormData()
  data.set('file', new Blob([FILE]), 'a.bin')
  return data
}

const bytes = (): Blob => new Blob([FILE], { type: 'application/octet-stream' })
const json = (): Blob => new Blob([JSON.stringify({ file: FILE.toString('base64') })], { type: 'application/json' })

it.each<[string, () => Promise<UploadSite>, () => FormData | Blob]>([
  ['koa-body', withKoaBody, form],
  ['koa-body, as JSON', withKoaBodyForJson, json],
  ['@fastify/multipart in onRequest', () => withFastifyMultipart('onRequest'), form],
  ['@fastify/multipart in preHandler', () => withFastifyMultipart('preHandler'), form],
  ['http-proxy-middleware', withHttpProxyMiddleware, bytes],
  ['@fastify/http-proxy', withFastifyHttpProxy, bytes],
])(
  'B40: an upload that waits before %s stays with its sender until its turn, and arrives whole',
  async (_reader, open, body) => {
    const { server, queue } = await open()
    onTestFinished(() => queue.close({ graceMs: 0 }))
    const sockets: Socket[] = []
    server.on('connection', (socket) => sockets.push(socket))
    const port = await listen(server)
    const holder = await queue.acquire()
    const answer = fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: body() })
    await waitingIs(queue, 1)
    let taken = 0
    await eventually(async () => {
      taken = sockets[0]!.bytesRead
      await new Promise((resolve) => setTimeout(resolve, 50))
      return taken > 0 && sockets[0]!.bytesRead === taken
    }).toBe(true)
    expect(taken).toBeLessThan(MOST_TAKEN)
    await holder.release()
    expect(await (await answer).text()).toBe(hash(FILE))
  },
)

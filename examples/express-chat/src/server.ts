import express from 'express'

const app = express()
app.get('/', (_req, res) => {
  res.type('text').send('The example is being written.\n')
})

const server = app.listen(Number(process.env['PORT'] ?? 3000), process.env['HOST'] ?? '127.0.0.1', () => {
  console.log('listening', server.address())
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    server.close()
    server.closeAllConnections()
  })
}

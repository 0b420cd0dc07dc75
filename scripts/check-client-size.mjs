// Bundles @fairqueue/client as an application would, its dependency included, and fails if it has grown out of its promise.
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { CommandError, ROOT, runMain } from './process.mjs'

/** Bytes, minified and gzipped. The README says so. */
const LIMIT = 4096

await runMain(async () => {
  const built = await build({
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      target: 'es2022',
      lib: { entry: `${ROOT}packages/client/dist/esm/index.js`, formats: ['es'] },
      rolldownOptions: { output: { minify: true } },
    },
  })
  const chunks = [built].flat().flatMap((bundle) => ('output' in bundle ? bundle.output : []))
  const code = chunks.map((chunk) => (chunk.type === 'chunk' ? chunk.code : '')).join('')
  const size = gzipSync(code, { level: 9 }).length
  console.log(`@fairqueue/client: ${size} of ${LIMIT} bytes`)
  if (size > LIMIT) throw new CommandError(`@fairqueue/client has ${size} bytes, more than ${LIMIT}`, 1)
})

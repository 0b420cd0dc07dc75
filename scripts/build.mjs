// Compiles everything; the published packages twice, as ES modules and as CommonJS.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { ROOT, runInstalled, runMain } from './process.mjs'

await runMain(async () => {
  const packages = readdirSync(`${ROOT}packages`)
  for (const name of packages) {
    mkdirSync(`${ROOT}packages/${name}/dist/cjs`, { recursive: true })
    writeFileSync(`${ROOT}packages/${name}/dist/cjs/package.json`, '{ "type": "commonjs" }\n')
  }
  await runInstalled('typescript/bin/tsc', ['-b', '.', ...packages.map((name) => `packages/${name}/tsconfig.cjs.json`)])
})

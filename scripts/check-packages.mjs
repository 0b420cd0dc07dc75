// Packs every published package and has publint and attw look at what users would get.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pnpm, ROOT, runInstalled, runMain } from './process.mjs'

await runMain(async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fairqueue-pack-'))
  try {
    for (const name of readdirSync(`${ROOT}packages`)) {
      const pack = ['--dir', `packages/${name}`, 'pack', '--pack-destination', directory]
      await pnpm(pack, { stdio: ['ignore', 'ignore', 'inherit'] })
    }
    for (const file of readdirSync(directory)) {
      const tarball = join(directory, file)
      await runInstalled('publint/src/cli.js', ['run', tarball, '--strict'])
      await runInstalled('@arethetypeswrong/cli/dist/index.js', [tarball])
    }
  } finally {
    rmSync(directory, { recursive: true })
  }
})

import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('.', import.meta.url))

export default defineConfig({
  resolve: {
    // In tests a package's name means its source, so nothing has to be built first.
    // Programs that a test starts as processes of their own run the built code (see scripts/test-build.ts).
    alias: [
      { find: /^@fairqueue\/test\/(.+)$/, replacement: `${root}test/$1.ts` },
      { find: /^@fairqueue\/(core|express)$/, replacement: `${root}packages/$1/src/index.ts` },
      { find: /^@fairqueue\/(core|express)\/(\w+)$/, replacement: `${root}packages/$1/src/$2.ts` },
    ],
  },
  test: {
    include: [
      'packages/*/test/**/*.test.ts',
      'examples/*/test/**/*.test.ts',
      'test/**/*.test.ts',
      'scripts/**/*.test.ts',
    ],
    exclude: ['**/node_modules/**', '**/dist/**'],
    pool: 'forks',
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
})

import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { chromium, findProgram, nginx, redisServer } from './scripts/programs.mjs'

const root = fileURLToPath(new URL('.', import.meta.url))

const env: Record<string, string> = {}
for (const program of [redisServer, chromium, nginx]) {
  const path = findProgram(program)
  if (path) env[program.variable] = path
}

export default defineConfig({
  resolve: {
    // In tests a package's name means its source. Programs that a test starts as processes of their own run what
    // scripts/vitest/build.ts has compiled.
    alias: [
      { find: /^@fairqueue\/test\/(.+)$/, replacement: `${root}test/$1.ts` },
      { find: /^@fairqueue\/(core|express|client|fastify|koa)$/, replacement: `${root}packages/$1/src/index.ts` },
      { find: /^@fairqueue\/core\/([\w/]+)$/, replacement: `${root}packages/core/src/$1.ts` },
    ],
  },
  test: {
    include: [
      'packages/*/test/**/*.test.ts',
      'examples/*/test/**/*.test.ts',
      'scripts/test/**/*.test.ts',
      'test/**/*.test.ts',
    ],
    exclude: ['**/node_modules/**', '**/dist/**'],
    env,
    globalSetup: 'scripts/vitest/build.ts',
    reporters: ['default', './scripts/vitest/totals.ts'],
    pool: 'forks',
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // Real processes, sockets and browsers on a machine that somebody else may keep busy. The last lines of a run name whoever needed it.
    retry: process.env['CI'] ? 1 : 0,
  },
})

// What others' tests of their own store and adapter look like; `node --test` runs it.
import { describe, it } from 'node:test'
import { adapterTests } from '@fairqueue/core/testing/adapter'
import { storeTests } from '@fairqueue/core/testing/store'
import { toyAdapter } from '../published/toyAdapter.js'
import { toyWorld } from '../published/toyStore.js'

void describe('a toy store', () => {
  for (const { name, run, timeoutMs } of storeTests(() => toyWorld())) void it(name, { timeout: timeoutMs }, run)
})

void describe('a toy adapter', () => {
  for (const { name, run, timeoutMs } of adapterTests(toyAdapter())) void it(name, { timeout: timeoutMs }, run)
})

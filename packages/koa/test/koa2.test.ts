import { adapterTests } from '@fairqueue/core/testing/adapter'
import { runSuite } from '@fairqueue/test/kit/suite'
import { koa2, koaAdapter } from './koaAdapter.js'

const adapter = koaAdapter(koa2, 'koa2')
runSuite('adapter', adapter.name, adapterTests(adapter))

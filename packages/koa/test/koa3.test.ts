import Koa from 'koa'
import { adapterTests } from '@fairqueue/core/testing/adapter'
import { runSuite } from '@fairqueue/test/kit/suite'
import { koaAdapter } from './koaAdapter.js'

const adapter = koaAdapter(Koa, 'koa')
runSuite('adapter', adapter.name, adapterTests(adapter))

import { adapterTests } from '@fairqueue/core/testing/adapter'
import { runSuite } from '@fairqueue/test/kit/suite'
import { fastifyAdapter } from './fastifyAdapter.js'

const adapter = fastifyAdapter
runSuite('adapter', adapter.name, adapterTests(adapter))

import { adapterTests } from '@fairqueue/core/testing/adapter'
import { runSuite } from '@fairqueue/test/kit/suite'
import { express4, expressAdapter } from './expressAdapter.js'

const adapter = expressAdapter(express4, 'express4')
runSuite('adapter', adapter.name, adapterTests(adapter))

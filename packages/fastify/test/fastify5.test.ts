import { adapterSuite } from '@fairqueue/test/suites/adapterSuite'
import { fastifyAdapter } from './fastifyAdapter.js'

adapterSuite(fastifyAdapter)

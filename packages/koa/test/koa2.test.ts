import { adapterSuite } from '@fairqueue/test/suites/adapterSuite'
import { koa2, koaAdapter } from './koaAdapter.js'

adapterSuite(koaAdapter(koa2, 'koa2'))

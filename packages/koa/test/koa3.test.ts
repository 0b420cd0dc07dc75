import Koa from 'koa'
import { adapterSuite } from '@fairqueue/test/suites/adapterSuite'
import { koaAdapter } from './koaAdapter.js'

adapterSuite(koaAdapter(Koa, 'koa'))

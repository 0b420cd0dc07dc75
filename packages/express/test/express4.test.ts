import { adapterSuite } from '@fairqueue/test/suites/adapterSuite'
import { express4, expressAdapter } from './expressAdapter.js'

adapterSuite(expressAdapter(express4, 'express4'))

import express from 'express'
import { adapterSuite } from '@fairqueue/test/suites/adapterSuite'
import { expressAdapter } from './expressAdapter.js'

adapterSuite(expressAdapter(express, 'express'))

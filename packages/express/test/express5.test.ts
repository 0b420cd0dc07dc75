import express from 'express'
import { adapterTests } from '@fairqueue/core/testing/adapter'
import { runSuite } from '@fairqueue/test/kit/suite'
import { expressAdapter } from './expressAdapter.js'

const adapter = expressAdapter(express, 'express')
runSuite('adapter', adapter.name, adapterTests(adapter))

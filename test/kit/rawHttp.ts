export { RawClient, type RawResponse } from '@fairqueue/core/testing/adapter'

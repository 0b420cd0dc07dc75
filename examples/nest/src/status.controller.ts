import { Controller, Get, Inject } from '@nestjs/common'
import type { QueueStatus } from '@fairqueue/core'
import { Lines } from './lines/lines.js'

@Controller('status')
export class StatusController {
  readonly #lines: Lines

  constructor(@Inject(Lines) lines: Lines) {
    this.#lines = lines
  }

  @Get()
  async status(): Promise<Record<string, QueueStatus>> {
    const all = this.#lines.names.map(async (name) => [name, await this.#lines.queue(name).status()] as const)
    return Object.fromEntries(await Promise.all(all))
  }
}

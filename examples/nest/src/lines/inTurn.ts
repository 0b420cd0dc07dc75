import {
  applyDecorators,
  createParamDecorator,
  Inject,
  Injectable,
  UseGuards,
  UseInterceptors,
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common'
import { HttpAdapterHost, Reflector } from '@nestjs/core'
import type { Observable } from 'rxjs'
import type { FairQueueContext } from '@fairqueue/core/http'
import { Lines } from './lines.js'
import { NestVisit, type NestRequest, type NestResponse } from './nestVisit.js'

const LineName = Reflector.createDecorator<string>()

/** Where a request's guard leaves its visit for the interceptor. */
const visits = new WeakMap<NestRequest, NestVisit>()

/** Lets a request through when its turn has come. As a guard it comes after those that stand before it: put authentication first. */
@Injectable()
class TurnGuard implements CanActivate {
  readonly #lines: Lines
  readonly #reflector: Reflector
  readonly #host: HttpAdapterHost

  constructor(
    @Inject(Lines) lines: Lines,
    @Inject(Reflector) reflector: Reflector,
    @Inject(HttpAdapterHost) host: HttpAdapterHost,
  ) {
    this.#lines = lines
    this.#reflector = reflector
    this.#host = host
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const name = this.#reflector.getAllAndOverride(LineName, [context.getHandler(), context.getClass()])
    const http = context.switchToHttp()
    const request = http.getRequest<NestRequest>()
    // A handler's line takes the place of its controller's, whose guard has asked for it already.
    if (visits.has(request)) return true
    const { httpAdapter } = this.#host
    const visit = new NestVisit(request, http.getResponse<NestResponse>(), httpAdapter.setHeader.bind(httpAdapter))
    this.#lines.gate(name).handle(visit)
    await visit.turn
    visits.set(request, visit)
    return true
  }
}

/** Tells when the handler has ended: until then its place is held, also when its client has left. */
@Injectable()
class TurnInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const visit = visits.get(context.switchToHttp().getRequest<NestRequest>())
    return visit === undefined ? next.handle() : visit.watch(next.handle())
  }
}

/** Requests to this handler, or to all handlers of this controller, wait in a line of {@link Lines}. */
export const InTurn = (line: string): ClassDecorator & MethodDecorator =>
  applyDecorators(LineName(line), UseGuards(TurnGuard), UseInterceptors(TurnInterceptor))

/** A handler's parameter: its request's place, with the `signal` that aborts when the client has gone. */
export const Turn = createParamDecorator((_: unknown, context: ExecutionContext): FairQueueContext => {
  const request = context.switchToHttp().getRequest<NestRequest>()
  // On Fastify a middleware knows nothing but Node's own request.
  return (request.fairQueue ?? (request.raw as NestRequest | undefined)?.fairQueue)!
})

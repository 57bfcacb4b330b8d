import { Reflector } from '@nestjs/core';
import type { Scope } from './scope.js';

/** Declares the scope that a handler needs, where it is not `read` for GET and `write` for any other method. */
export const RequireScope = Reflector.createDecorator<Scope>();

type Handler = Parameters<Reflector['get']>[1];

export function scopeOf(reflector: Reflector, handler: Handler, method: string): Scope {
  const declared = reflector.get(RequireScope, handler) as Scope | undefined;
  return declared ?? (method === 'GET' || method === 'HEAD' ? 'read' : 'write');
}

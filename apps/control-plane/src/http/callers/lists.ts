import { Reflector } from '@nestjs/core';

/**
 * Declares a handler that reads a list from the database while the client reads the response. It holds one of a few
 * connections meanwhile.
 */
export const Lists = Reflector.createDecorator<true>();

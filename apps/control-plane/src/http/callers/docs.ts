import { Reflector } from '@nestjs/core';

/** Declares a controller of documentation, which needs no token when `MANAGEMENT_DOCS` is `public`. */
export const Docs = Reflector.createDecorator<true>();

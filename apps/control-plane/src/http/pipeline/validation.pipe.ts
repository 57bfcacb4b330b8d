import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { UncheckedRequest } from './unchecked-request.js';

/** Gives `@Param()` and `@Body()` instances of the classes that `@ApiRequest` declares, or throws all their faults. */
@Injectable()
export class ValidationPipe implements PipeTransform {
  transform(value: unknown, { type }: ArgumentMetadata): unknown {
    if (!(value instanceof UncheckedRequest)) return value;
    const { path, body } = value.check();
    return type === 'param' ? path : body;
  }
}

import type { DtoClass } from './dto-class.js';
import type { Fault } from './fault.js';
import { fieldsOf } from './fields-of.js';
import { FieldReader, readerOf } from './reader.js';
import { IsList } from './rules.js';

/** The value that was read. Use it only when there is no fault. */
export interface ReadResult<T> {
  readonly value: T;
  readonly faults: readonly Fault[];
}

/** Reads an object of a class from parsed JSON. It reports all faults, not only the first, but at most `MAX_FAULTS`. */
export function read<T extends object>(type: DtoClass<T>, plain: unknown): ReadResult<T> {
  const faults: Fault[] = [];
  return { value: readerOf(type).read(plain, faults), faults };
}

/** Like `read`, for an object whose lists may be long: it yields to the event loop. */
export async function readLong<T extends object>(
  type: DtoClass<T>,
  plain: unknown,
): Promise<ReadResult<T>> {
  const faults: Fault[] = [];
  return { value: await readerOf(type).readInSlices(plain, faults), faults };
}

/** Like `readLong`, for an array of objects of a class. */
export async function readList<T extends object>(
  type: DtoClass<T>,
  plain: unknown,
): Promise<ReadResult<T[]>> {
  const [field] = fieldsOf(Whole);
  const faults: Fault[] = [];
  const dto: Record<string, unknown> = {};
  const reader = new FieldReader({ ...field, type, isList: true }, []);
  await reader.readInSlices({ items: plain }, dto, faults);
  return { value: dto['items'] as T[], faults };
}

/** A body that is an array. */
class Whole {
  @IsList()
  items!: unknown[];
}

import type { Json } from './json.js';

const EXAMPLES = new WeakMap<object, unknown>();

/** Sets the JSON example of a class for the OpenAPI document. A test sends all examples as one consistent sequence. */
export function Example<T extends object>(example: Json<T>) {
  return (type: new () => T): void => {
    EXAMPLES.set(type, example);
  };
}

/** @throws Error when the class has none. */
export function exampleOf<T extends object>(type: new () => T): Json<T> {
  const example = EXAMPLES.get(type);
  if (example === undefined) throw new Error(`${type.name} has no example`);
  return example as Json<T>;
}

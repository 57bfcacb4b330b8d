/** A class whose instances are read from JSON. */
export type DtoClass<T extends object = object> = new () => T;

/** The plain JSON form of a DTO class: responses are written without creating instances. */
export type Json<T> = T extends readonly (infer Item)[]
  ? Json<Item>[]
  : T extends object
    ? { [K in keyof T]: Json<T[K]> }
    : T;

const EXAMPLES = new WeakMap<object, unknown>();

/** Sets the JSON example of a class for the OpenAPI document. A test sends all examples as one consistent sequence. */
export function Example<T extends object>(example: Json<T>) {
  return (type: DtoClass<T>): void => {
    EXAMPLES.set(type, example);
  };
}

/** @throws Error when the class has none. */
export function exampleOf<T extends object>(type: DtoClass<T>): Json<T> {
  const example = EXAMPLES.get(type);
  if (example === undefined) throw new Error(`${type.name} has no example`);
  return example as Json<T>;
}

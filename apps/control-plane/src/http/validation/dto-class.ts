/** A class whose instances are read from JSON. */
export type DtoClass<T extends object = object> = new () => T;

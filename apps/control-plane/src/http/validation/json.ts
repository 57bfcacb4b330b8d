/** The plain JSON form of a DTO class: responses are written without creating instances. */
export type Json<T> = T extends readonly (infer Item)[]
  ? Json<Item>[]
  : T extends object
    ? { [K in keyof T]: Json<T[K]> }
    : T;

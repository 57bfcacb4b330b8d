/** What a class of the contract looks like as plain JSON: answers are written without making instances. */
export type Json<T> = T extends readonly (infer Item)[]
  ? Json<Item>[]
  : T extends object
    ? { [K in keyof T]: Json<T[K]> }
    : T;

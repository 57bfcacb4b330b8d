/** What `@Type` and `@Transform` have stored. The package exports it from no other path. */
declare module 'class-transformer/cjs/storage.js' {
  export { defaultMetadataStorage } from 'class-transformer/types/storage.js';
}

// What `build.mjs` makes: files that a browser loads from the control plane, under /console/.
export default {
  base: '/console/',
  build: {
    target: 'es2024',
    // The names of all files but index.html have a hash, so browsers keep them for good.
    assetsInlineLimit: 0,
    // Every browser that the console supports loads modules ahead by itself.
    modulePreload: { polyfill: false },
    license: { fileName: 'licences.md' },
    reportCompressedSize: false,
  },
};

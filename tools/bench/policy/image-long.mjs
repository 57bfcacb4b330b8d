// Looks up a hundred million random names in an image of ten million domains. None may be mistaken for a listed
// one. Started by run.mjs --long.
import { CatalogueImage, compileCatalogue, NameList } from '@weir/catalogue';
import { parseHashKey, SuffixHashes } from '@weir/dns-name';
import { randomNumbers, textOf, writeName } from './names.mjs';

const KEY = parseHashKey('0f0e0d0c0b0a09080706050403020100');
const DOMAINS = 10_000_000;
const LOOKUPS = 100_000_000;

const domains = {
  *[Symbol.iterator]() {
    for (let n = 0; n < DOMAINS; n++) yield textOf('l', n);
  },
};
const categories = [{ id: 1, name: 'all', lists: [NameList.of(domains, KEY)] }];
const { image } = compileCatalogue({ categories, applications: [] }, KEY);
const catalogue = CatalogueImage.open(image, KEY);

const names = new SuffixHashes(KEY);
const bytes = new Uint8Array(64);
let found = 0;
for (let n = 0; n < DOMAINS; n++) {
  writeName(bytes, 0, 'l', n);
  names.compute(bytes, 0);
  // As a policy does: a name that the filter excludes is not searched.
  if (((catalogue.candidateMask(names) >>> 1) & 1) !== 0 && catalogue.find(names, 1) !== 0) found++;
}

const random = randomNumbers(20_261_120);
let falsePositives = 0;
const before = process.threadCpuUsage();
for (let i = 0; i < LOOKUPS; i++) {
  // A letter that no listed name has.
  writeName(bytes, 0, i % 2 === 0 ? 'm' : 'z', random());
  names.compute(bytes, 0);
  // Without the filter, because the filter could hide an error of the search.
  if (catalogue.find(names, 1) !== 0) falsePositives++;
}
const { user, system } = process.threadCpuUsage(before);
const result = {
  domains: catalogue.domainCount,
  lookups: LOOKUPS,
  bytesADomain: image.length / DOMAINS,
  found,
  falsePositives,
  nsALookup: ((user + system) / LOOKUPS) * 1000,
};
process.stdout.write(`${JSON.stringify(result)}\n`);

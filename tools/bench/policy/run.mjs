// npm run bench:policy -- --help
//
// The policy engine alone, at four sizes, each in a fresh process. Processor time of one thread, medians of 5
// rounds of 131,072 different queries, so that hardly anything is in a cache.
import { spawnSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { SIZES } from './configuration.mjs';

const HELP = `npm run bench:policy [-- OPTIONS]
  --size LIST     of ${Object.keys(SIZES).join(', ')}, by default all (six minutes); 1k takes a minute or two
  --domains N     category domains, instead of what the size says; 50000000 need 8 GB
  --huge-pages    policy and catalogue are in huge pages, as those of a resolver are
  --long          100 M random look-ups in an image of 10 M domains as well (four minutes)
`;

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    size: { type: 'string', default: '0,1k,10k,1M' },
    domains: { type: 'string' },
    'huge-pages': { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
  },
});

if (values.help) {
  process.stdout.write(HELP);
  process.exit();
}
const sizes = values.size.split(',');
const unknown = sizes.find((name) => !(name in SIZES));
if (unknown !== undefined) {
  process.stderr.write(`there is no size ${unknown}\n${HELP}`);
  process.exit(2);
}

function run(script, args) {
  const path = new URL(script, import.meta.url).pathname;
  const child = spawnSync(process.execPath, ['--max-old-space-size=8000', path, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 1 << 26,
  });
  if (child.status !== 0) process.exit(child.status ?? 1);
  return JSON.parse(child.stdout.toString());
}

const print = (line = '') => process.stdout.write(`${line}\n`);
const number = (value, digits = 0) =>
  value.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: digits });
function table(head, rows) {
  print(`| ${head.join(' | ')} |`);
  print(`|${head.map((_, i) => (i === 0 ? ' --- ' : ' ---: ')).join('|')}|`);
  for (const row of rows) print(`| ${row.join(' | ')} |`);
  print();
}

const model = cpus()[0].model;
print(
  `${model}, ${cpus().length} cores, ${number(totalmem() / 2 ** 30)} GiB; Node ${process.version}`,
);
print(
  `npm run bench:policy ${process.argv.slice(2).join(' ')}; ${new Date().toISOString().slice(0, 10)}`,
);
print();

const results = sizes.map((name) => {
  const result = run('measure.mjs', [
    name,
    ...(values.domains ? [values.domains] : []),
    ...(values['huge-pages'] ? ['--huge-pages'] : []),
  ]);
  return { name, ...result };
});

print(
  'ns per call of decide(), without hashing the name, by outcome; ' +
    'waits: the time that memory of that size takes for the unavoidable reads:',
);
print();
const outcomes = Object.keys(results.at(-1).decide);
const cell = (result, outcome, key) => {
  const measured = result.decide[outcome];
  return measured === undefined ? '' : number(measured[key]);
};
table(
  [
    'outcome',
    ...results.flatMap(({ name }) => [`${name}: decide`, 'of it identify', 'hash', 'waits']),
  ],
  outcomes.map((outcome) => [
    outcome,
    ...results.flatMap((result) =>
      ['decideNs', 'identifyNs', 'hashNs', 'floorNs'].map((key) => cell(result, outcome, key)),
    ),
  ]),
);

for (const { name, latency, rssMb, hugeMb } of results) {
  print(
    `${name}: ${number(latency.dependentNs)} ns a random read of 64 MB that depends on the one before, ` +
      `${number(latency.independentNs)} ns one that does not; ${number(rssMb)} MB resident, ${number(hugeMb)} of it in huge pages.`,
  );
}
print();
print('Bytes an entry, and load time:');
print();
const parts = [
  ['profiles', 'profiles', 'profile'],
  ['domain rules', 'domainRules', 'domainRule', 'rules'],
  ['IPv4 networks', 'ipv4Networks', 'ipv4Network', 'networks'],
  ['IPv6 networks', 'ipv6Networks', 'ipv6Network', 'networks6'],
  ['NAPT ranges', 'naptRanges', 'naptAssignment', 'napt'],
];
table(
  ['part', ...results.flatMap(({ name }) => [`${name}: entries`, 'bytes each', 'load, ms'])],
  [
    ...parts.map(([title, part, kind, count = part]) => [
      title,
      ...results.flatMap(({ size, memory, loadMs }) => [
        number(size[count]),
        size[count] === 0 ? '' : number(memory[part] / size[count], 1),
        number(loadMs[kind]),
      ]),
    ]),
    [
      'category domains',
      ...results.flatMap(({ size, catalogueBytes, loadMs }) => [
        number(size.domains),
        size.domains === 0 ? '' : number(catalogueBytes / size.domains, 1),
        number(loadMs.catalogue),
      ]),
    ],
  ],
);

print(
  'µs per change of one operation at the largest size, wall time; ' +
    'withoutProxies: without garbage collection and without waiting for the scheduler:',
);
print();
table(
  ['change', 'mean', '99 %', 'longest', 'longest withoutProxies'],
  Object.entries(results.at(-1).changes).flatMap(([kind, byOperation]) =>
    Object.entries(byOperation).map(([operation, measured]) => [
      `${kind}, ${operation}`,
      number(measured.meanUs, 1),
      number(measured.p99Us, 1),
      number(measured.worstUs),
      number(measured.undisturbedUs),
    ]),
  ),
);

if (values.long) {
  const { domains, lookups, bytesADomain, found, falsePositives, nsALookup } = run(
    'image-long.mjs',
    [],
  );
  print(
    `${number(lookups)} random names in an image of ${number(domains)} domains: ${number(falsePositives)} taken for listed; ` +
      `${number(found)} of as many listed names found; ${number(bytesADomain, 2)} bytes a domain; ${number(nsALookup)} ns a look-up, hashing included.`,
  );
}

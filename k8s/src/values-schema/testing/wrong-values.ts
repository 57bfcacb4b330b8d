type Values = Readonly<Record<string, unknown>>;

/** Mistakes of an operator: path in the values, and value. */
export const WRONG_VALUES: readonly [what: string, path: string, value: unknown][] = [
  ['an unknown key', 'replicas', 2],
  ['a misspelt key', 'resolver.replica', 2],
  ['a misspelt variable', 'resolver.env.UPSTREAM', ['192.0.2.1']],
  ['a variable of another process', 'blockPage.env.DNS_PORT', 5300],
  ['a secret among the open variables', 'controlPlane.env.FEED_TOKENS', 'a'.repeat(20)],
  ['a number as a string', 'resolver.env.CACHE_SIZE_MB', '64'],
  ['a number out of range', 'resolver.env.BLOCK_TTL', -1],
  ['a fraction', 'resolver.env.CACHE_SIZE_MB', 1.5],
  ['a boolean as a string', 'resolver.env.INSPECT_CNAME', 'yes'],
  ['a list as a string', 'resolver.env.UPSTREAMS', '192.0.2.1'],
  ['an empty list', 'resolver.env.UPSTREAMS', []],
  ['a host name for an address', 'resolver.env.UPSTREAMS', ['ns.example']],
  ['seventeen upstreams', 'resolver.env.UPSTREAMS', Array(17).fill('192.0.2.1')],
  ['an IPv6 address for IPv4', 'resolver.env.BLOCK_PAGE_IPV4', ['::1']],
  ['a page id that is not a number', 'resolver.env.BLOCK_PAGE_ADDRESSES', { x: ['192.0.2.7'] }],
  ['port 0', 'resolver.env.DNS_PORT', 0],
  ['a port below 1024', 'blockPage.env.BLOCK_PAGE_PORT', 80],
  ['an unknown log level', 'controlPlane.env.LOG_LEVEL', 'loud'],
  ['a malformed size', 'controlPlane.env.MANAGEMENT_BODY_LIMIT', '8 mb'],
  ['a colour by name', 'blockPage.env.BLOCK_PAGE_BRAND_COLOR', 'blue'],
  ['a secret that is too short', 'secrets.values.MANAGEMENT_TOKENS', ['short']],
  ['a key that is not hexadecimal', 'secrets.values.DOMAIN_HASH_KEY', 'k'.repeat(32)],
  ['a URL of another scheme', 'secrets.values.DATABASE_URL', 'mysql://db.example/weir'],
  ['an unknown secret', 'secrets.values.PASSWORD', 'x'],
  ['an allowed client that is no network', 'resolver.allowedClients', ['example.com']],
  ['an unknown workload kind', 'resolver.kind', 'Deployment'],
  ['no replicas', 'controlPlane.replicas', 0],
  ['a page id with a leading zero', 'blockPage.pages.07', '<p>'],
  ['an Ingress without a host', 'controlPlane.ingress', { enabled: true }],
  ['user id 0', 'image.user', 0],
  ['a loopback address to listen on', 'listen', '127.0.0.1'],
  ['an unknown pull policy', 'image.pullPolicy', 'Sometimes'],
  ['an unknown Service type', 'resolver.service.type', 'ExternalName'],
  ['a volume size without a number', 'postgresql.size', 'big'],
  ['a disruption budget of 0', 'resolver.disruptionBudget.maxUnavailable', 0],
  ['a label that is not a string', 'monitoring.serviceMonitor.labels', { a: 1 }],
  ['a number instead of a string', 'image.repository', 7],
  ['a digest of another kind', 'image.digest', { resolver: 'md5:00' }],
  ['a digest of an image that is not there', 'image.digest.redis', `sha256:${'0'.repeat(64)}`],
  ['a misspelt egress', 'networkPolicy.egress.resolvers', []],
];

/** `a.b` and a value → the values of a chart. */
export const valuesWith = (path: string, value: unknown): Values =>
  path.split('.').reduceRight<unknown>((below, key) => ({ [key]: below }), value) as Values;

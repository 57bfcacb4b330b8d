import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Deployment } from '../deployment/deployment.js';
import { findFreePorts } from '../services/ports.js';
import type { WeirProcess } from '../services/weir-process.js';
import { HelperProcess } from './helper-process.js';
import {
  ATTACKER,
  ATTACKER_PROFILE,
  BLOCK_PAGE,
  BLOCKED_ZONE,
  NEIGHBOUR,
  NEIGHBOUR_PORTS,
  NEIGHBOUR_PROFILE,
  NETWORK,
  OTHER_PROFILE,
  QUERY_RATE_LIMIT,
  SERVED_CLIENTS,
  SERVER,
  type Target,
} from './shared/target.js';

const UPSTREAMS = 2;
/** Below the neighbour: both answer at once, and neither has much to do. */
const UPSTREAM_PRIORITY = 10;
const LOWEST_PORT = 1_024;
const HIGHEST_PORT = 65_535;

export interface SettingOptions {
  readonly root: string;
  readonly folder: string;
  readonly onUnexpectedExit: (explanation: string) => void;
}

/** All processes but the attacker and the neighbour: PostgreSQL, Redis, a control plane, a resolver, its upstreams. */
export class Setting {
  private constructor(
    readonly target: Target,
    private readonly deployment: Deployment,
    private readonly upstream: HelperProcess,
  ) {}

  static async start({ root, folder, onUnexpectedExit }: SettingOptions): Promise<Setting> {
    const seed = Math.floor(Math.random() * 2 ** 32);
    const ports = await findFreePorts(UPSTREAMS + 2);
    const [tlsPort = 0, httpsPort = 0, ...upstreamPorts] = ports;
    const upstream = await HelperProcess.start({
      script: './upstream/main.js',
      argument: upstreamPorts,
      logFile: join(folder, 'upstream.log'),
      priority: UPSTREAM_PRIORITY,
    });
    upstream.onUnexpectedExit(onUnexpectedExit);
    const deployment = await Deployment.create({
      root,
      folder,
      replicas: 1,
      resolvers: 1,
      withoutProxies: true,
      resolverVariables: () => ({
        UPSTREAMS: upstreamPorts.map((port) => `${SERVER}:${port}`).join(','),
        BLOCK_PAGE_IPV4: BLOCK_PAGE,
        DNS_ALLOWED_CLIENTS: SERVED_CLIENTS,
        DNS_TLS_PORT: String(tlsPort),
        DNS_HTTPS_PORT: String(httpsPort),
        CLIENT_QUERY_RATE: String(QUERY_RATE_LIMIT),
        ...makeCertificate(folder),
      }),
      onUnexpectedExit,
    });
    const [dnsPort = 0] = deployment.dnsPorts;
    const [managementPort = 0] = deployment.managementPorts;
    const { token } = deployment.secrets;
    const target = { dnsPort, tlsPort, httpsPort, managementPort, managementToken: token, seed };
    const setting = new Setting(target, deployment, upstream);
    try {
      await deployment.start();
      await setting.configure();
      return setting;
    } catch (error) {
      await setting.stop();
      throw error;
    }
  }

  get resolver(): WeirProcess {
    const [resolver] = this.deployment.resolvers;
    if (resolver === undefined) throw new Error('there is no resolver');
    return resolver;
  }

  async stop(): Promise<void> {
    await this.deployment.stop();
    await this.upstream.stop();
  }

  private async configure(): Promise<void> {
    const [client] = this.deployment.clients;
    if (client === undefined) throw new Error('there is no control plane');
    const post = (path: string, body: unknown) => client.change('POST', path, body);
    await post('/blockpage/', { id: 1, type: 0 });
    for (const id of [NEIGHBOUR_PROFILE, ATTACKER_PROFILE, OTHER_PROFILE]) {
      await post('/profiles/', { profile: { id, page_id: null } });
      await post(`/profile/${id}/bw_list`, { type: 'deny', domain: BLOCKED_ZONE });
    }
    await post('/net/', { ip: ATTACKER, profile_id: ATTACKER_PROFILE });
    await post('/net/', { ip: NETWORK, prefix_len: 24, profile_id: ATTACKER_PROFILE });
    const ranges = [
      [NEIGHBOUR_PORTS, HIGHEST_PORT, NEIGHBOUR_PROFILE],
      [LOWEST_PORT, NEIGHBOUR_PORTS - 1, ATTACKER_PROFILE],
    ];
    for (const [lower_port_bound, upper_port_bound, profile_id] of ranges) {
      await post('/napt/', {
        ip: NEIGHBOUR,
        lower_port_bound,
        upper_port_bound,
        profile_id,
      });
    }
  }
}

/** Writes a self-signed certificate and its key. @returns the variables that name them */
function makeCertificate(folder: string): Readonly<Record<string, string>> {
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  const keyOptions = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const files = ['-keyout', key, '-out', certificate];
  const subject = ['-subj', '/CN=dns.example.com', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...keyOptions, ...subject, ...files], { stdio: 'pipe' });
  return { DNS_TLS_CERT: certificate, DNS_TLS_KEY: key };
}

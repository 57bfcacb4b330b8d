import { CatalogueError } from '@weir/catalogue';
import { type Logger, openDeployment, type Service, StartError, TlsIdentity } from '@weir/ops';
import { OpsServer } from '@weir/ops/metrics';
import { openTelemetry } from '@weir/telemetry';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AppModule } from './app.module.js';
import { DefinitionReader } from './catalogue/worker/definition-reader.js';
import type { ControlPlaneConfiguration } from './configuration.js';
import { FeedApi } from './feed/feed-api.js';
import { openTokens } from './http/callers/tokens.js';
import { createManagementApi } from './management-api.js';
import { drainServer } from './platform/server-lifecycle.js';
import type { Process } from './process.js';

/** A running control plane. */
export interface ControlPlane extends Service {
  readonly managementPort: number;
  readonly feedPort: number;
  readonly opsPort: number;
  /** See `AppModule.ready`. Calls are served before. */
  readonly ready: Promise<boolean>;
}

/** How soon a changed certificate is used. */
const TLS_CHECK_MS = 2_000;

type Files = Pick<Process, 'tls' | 'feedTls' | 'tokens' | 'deployment' | 'definition'>;

async function openFiles(
  configuration: ControlPlaneConfiguration,
  log: Logger,
  opened: AsyncDisposableStack,
): Promise<Files> {
  const openTls = (
    prefix: 'MANAGEMENT_TLS' | 'FEED_TLS',
    clientCa?: string,
  ): TlsIdentity | null => {
    const { [`${prefix}_CERT` as const]: cert, [`${prefix}_KEY` as const]: key } = configuration;
    const names = { prefix, cert, key, ...(clientCa !== undefined && { clientCa }) };
    const identity = TlsIdentity.open({ names, checkMs: TLS_CHECK_MS, log });
    return opened.adopt(identity, (tls) => tls?.close());
  };
  return {
    tls: openTls('MANAGEMENT_TLS', configuration.MANAGEMENT_TLS_CLIENT_CA),
    feedTls: openTls('FEED_TLS'),
    tokens: opened.adopt(openTokens(configuration, log), (it) => it.close()),
    deployment: opened.adopt(openDeployment(configuration, log), (it) => it.close()),
    definition: await openDefinition(configuration),
  };
}

/** @throws StartError, as `startControlPlane`, when a file that the configuration names cannot be used. */
export async function checkFiles(
  configuration: ControlPlaneConfiguration,
  log: Logger,
): Promise<void> {
  await using opened = new AsyncDisposableStack();
  await openFiles(configuration, log, opened);
}

/**
 * Starts the control plane. Health and metrics come first and report that it is starting, and they are closed last.
 * What files tell is read before Nest starts the rest, see `Process`. A start that fails closes what it has opened.
 * @throws StartError when a port is taken or a file, such as the catalogue, cannot be used.
 */
export async function startControlPlane(
  configuration: ControlPlaneConfiguration,
  log: Logger,
): Promise<ControlPlane> {
  const opened = new AsyncDisposableStack();
  try {
    const { OPS_HOST: host, OPS_PORT: port } = configuration;
    const ops = opened.adopt(await OpsServer.start({ host, port, log }), (it) => it.close());
    const files = await openFiles(configuration, log, opened);
    const telemetry = await openTelemetry({ process: 'control-plane', configuration, log });
    const process: Process = { configuration, log, ops, ...files, telemetry };
    const app = opened.adopt(await createManagementApi(process), (it) => it.close());
    await app.init();
    const servers: readonly Server[] = [app.getHttpServer(), app.get(FeedApi).server];
    const [managementPort, feedPort] = servers.map(portOf);
    return {
      managementPort,
      feedPort,
      opsPort: ops.port,
      ready: app.get(AppModule).ready,
      drain: () => {
        ops.drain();
        servers.forEach(drainServer);
      },
      stop: () => {
        ops.drain();
        return opened.disposeAsync();
      },
    };
  } catch (error) {
    await opened.disposeAsync().catch((failure: unknown) => {
      log.error({ err: failure }, 'stopping failed');
    });
    throw error;
  }
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** @throws StartError, one line, when the definition in a folder cannot be used. */
async function openDefinition({
  CATALOGUE: location,
  CATALOGUE_SETS: sets = [],
}: ControlPlaneConfiguration): Promise<DefinitionReader> {
  const definition = new DefinitionReader({ location, sets });
  try {
    await definition.start();
    return definition;
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    throw new StartError(`${error.message} (CATALOGUE)`, { cause: error });
  }
}

import type { Logger, OpenDeployment, TlsIdentity, Watched } from '@weir/ops';
import type { OpsServer } from '@weir/ops/metrics';
import type { Telemetry } from '@weir/telemetry';
import type { DefinitionReader } from './catalogue/worker/definition-reader.js';
import type { ControlPlaneConfiguration } from './configuration.js';
import type { Token } from './http/callers/tokens.js';

/** What a process has opened before Nest starts. */
export interface Process {
  readonly configuration: ControlPlaneConfiguration;
  readonly log: Logger;
  readonly ops: OpsServer;
  /** Of the management API. Null: http. */
  readonly tls: TlsIdentity | null;
  readonly feedTls: TlsIdentity | null;
  readonly tokens: Watched<readonly Token[]>;
  readonly deployment: OpenDeployment;
  /** Of the catalogue. */
  readonly definition: DefinitionReader;
  readonly telemetry: Telemetry | null;
}

/** Provides the `Process` to all modules. */
export const PROCESS = Symbol('Process');

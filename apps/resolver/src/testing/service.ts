import { createLogger } from '@weir/ops';
import { makeCertificate } from '@weir/ops/testing';
import type { Policy } from '@weir/policy';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { DnsConfiguration } from '../configuration.js';
import { DnsService, type DnsServiceOptions } from '../dns-service.js';
import { CONFIGURATION } from './configuration.js';
import { PATIENT } from './patient.js';
import { SharedSource } from './shared-source.js';

/** A certificate and its key, as variables, for all tests of the file. */
export function useCertificate(): { DNS_TLS_CERT: string; DNS_TLS_KEY: string } {
  const folder = mkdtempSync(join(tmpdir(), 'weir-certificate-'));
  const DNS_TLS_CERT = join(folder, 'dns.crt');
  const DNS_TLS_KEY = join(folder, 'dns.key');
  beforeAll(() => {
    makeCertificate(DNS_TLS_CERT, DNS_TLS_KEY);
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });
  return { DNS_TLS_CERT, DNS_TLS_KEY };
}

export interface TestServiceOptions extends Partial<
  Omit<DnsServiceOptions, 'configuration' | 'readers'>
> {
  /** A `SharedSource` when the test changes it. */
  readonly source: SharedSource | { readonly policy: Policy | null };
}

/**
 * A service with these variables and a silent log, not started. While its time is the real one, it waits for upstreams
 * longer than the product does.
 */
export function createService(
  configuration: Partial<DnsConfiguration>,
  { source, forwarding, ...options }: TestServiceOptions,
): DnsService {
  const isClocked = options.times !== undefined && !Number.isNaN(options.times[1]);
  const limits = isClocked ? forwarding : { ...PATIENT, ...forwarding };
  const shared = source instanceof SharedSource ? source : new SharedSource(source.policy);
  return new DnsService({
    upstreams: [],
    log: createLogger({ name: 'resolver', level: 'silent' }),
    ...options,
    ...(limits && { forwarding: limits }),
    readers: shared.readers,
    configuration: { ...CONFIGURATION, ...configuration },
  });
}

/** Such a service, which runs until the end of the test. */
export async function startService(...options: Parameters<typeof createService>) {
  const service = createService(...options);
  const bound = await service.start();
  onTestFinished(() => service.stop());
  return { service, ...bound };
}

/** Whether no question waits for an upstream. */
export function isIdle({ counts }: DnsService): boolean {
  return counts.forwarding.inFlight === 0;
}
